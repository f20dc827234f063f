"""A process that ends while compiled functions are alive ends in silence."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_compiled_functions_may_outlive_everything_else(backend: str) -> None:
    program = textwrap.dedent(f"""
        import numpy as np
        from axonym_autodiff import grad
        from axonym_compile import jit
        from axonym_core import config, lax
        from axonym_mapping import vmap

        config.backend = {backend!r}
        functions = {{i: jit(lambda x, i=i: x * i) for i in range(20)}}
        for f in functions.values():
            f(np.float32(1.0))

        class Model:
            def __init__(self):
                self.me = self
                self.step = jit(grad(lambda w: lax.sin(w) * w))

        model = Model()
        print(float(model.step(np.float32(1.0))) > 0, vmap(functions[3])(np.ones(2)).tolist())
    """)
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )

    assert (run.returncode, run.stdout, run.stderr) == (0, "True [3.0, 3.0]\n", "")
