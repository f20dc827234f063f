"""What importing costs and starts: measured in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

BOTH = "import axonym, axonym.numpy"


def answer(program: str, **environ: str) -> Any:
    """Run a program in a process of its own and return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import json, sys\n{program}"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def modules_after(program: str) -> list[str]:
    found: list[str] = answer(f"{program}\nprint(json.dumps(list(sys.modules)))")
    return found


def roots_after(program: str) -> set[str]:
    return {name.partition(".")[0] for name in modules_after(program)}


def test_importing_loads_few_modules() -> None:
    assert len(modules_after(BOTH)) <= 400
    assert len(modules_after("import axonym")) <= 100


def test_importing_loads_nothing_that_is_not_needed() -> None:
    roots = roots_after(BOTH)
    for name in ("jax", "jaxlib", "scipy", "sklearn", "matplotlib", "axonym_xla"):
        assert name not in roots
    assert roots_after("import axonym") & {"numpy", "axonym_core"} == set()


def test_using_everything_never_imports_jax() -> None:
    everything = "import axonym\nfor name in axonym.__all__: getattr(axonym, name)"
    assert roots_after(everything) & {"jax", "scipy", "sklearn"} == set()
    used = f"{BOTH}\naxonym.jit(axonym.grad(axonym.numpy.sin))(1.0).block_until_ready()"
    assert roots_after(used) & {"jax", "scipy", "sklearn"} == set()


def test_importing_everything_starts_no_client() -> None:
    program = """
import axonym, axonym_xla
for name in axonym.__all__:
    getattr(axonym, name)
print(json.dumps(axonym_xla.is_started()))
"""
    assert answer(program) is False


def test_names_are_attributes_once_they_were_used() -> None:
    program = """
import axonym
before = "grad" in vars(axonym)
axonym.grad
print(json.dumps([before, "grad" in vars(axonym)]))
"""
    assert answer(program) == [False, True]


def test_a_star_import_brings_the_public_names() -> None:
    program = """
from axonym import *
import axonym
print(json.dumps([name for name in axonym.__all__ if name not in globals()]))
"""
    assert answer(program) == []
