"""Nothing depends on what was imported before: first uses in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Each begins with nothing but the umbrella, and calls a method of an array of its own making.
FIRST_USES = {
    "jit": "ax.jit(lambda x: x.sum())(np.ones(2))",
    "grad": "ax.grad(lambda x: (x * x).sum())(np.ones(2)).sum() / 2",
    "vmap": "ax.vmap(lambda x: x.sum())(np.ones((1, 2)))[0]",
    "device_put": "ax.device_put(np.ones(2)).reshape(2, 1).mean() * 2",
    "lax": "ax.lax.sin(np.zeros(2)).astype('float32').max() + 2",
    "random": "ax.random.uniform(ax.random.key(0), (2,)).clip(1, 1).sum()",
    "namespace": "ax.device_put(np.ones(2)).__array_namespace__().ones(2).sum()",
    "core alone": "__import__('axonym_core.lax').lax.neg(np.ones(2)).sum() * -1",
}
MODULES = ["core", "dtypes", "errors", "extend", "lax", "nn", "nn.initializers", "numpy", "random"]
MODULES += ["numpy.linalg", "scipy.special", "stages", "test_util", "tree", "tree_util"]

_PROGRAM = """
import sys
import numpy as np
import axonym as ax
assert "axonym_numpy" not in sys.modules
assert float({0}) == 2.0
"""
_NAMES = """
from importlib import import_module
module = import_module("axonym.{}")
for name in getattr(module, "__all__", dir(module)):
    getattr(module, name)
"""


def run_all(programs: list[str]) -> None:
    """Run programs in processes, a few at a time."""
    env = {**os.environ, "AXONYM_BACKEND": "numpy"}
    for start in range(0, len(programs), 5):
        children = [
            subprocess.Popen([sys.executable, "-c", p], stderr=subprocess.PIPE, text=True, env=env)
            for p in programs[start : start + 5]
        ]
        for child in children:
            _, errors = child.communicate(timeout=120)
            assert child.returncode == 0, errors


def test_methods_of_arrays_are_there_whatever_is_used_first() -> None:
    run_all([_PROGRAM.format(use) for use in FIRST_USES.values()])


def test_every_module_gives_all_its_names_in_a_process_of_its_own() -> None:
    run_all([_NAMES.format(name) for name in MODULES])


def test_the_umbrella_alone_imports_none_of_the_others() -> None:
    code = "import sys, axonym; sys.exit(any(m.startswith('axonym_') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_package_of_the_methods_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from axonym_core.arrays import array, as_concrete

    monkeypatch.setattr(array, "_METHODS", "axonym_package_that_is_not_there")
    with pytest.raises(AttributeError, match="pip install axonym-numpy"):
        as_concrete(1.0).sum_of_some_sort()
