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


WORK = {
    "jit": "y = f(y)",
    "wait": "f(y).block_until_ready()",
    "operations": "x[0] + x[1]",
    "read": "np.asarray(f(y))",
    "put": "ax.device_put(np.ones(10_000))",
    "compile": "ax.jit(lambda x: x + random.random())(1.0)",
    "donate": "g(y + 1)",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_that_compute_do_not_disturb_the_end(work: str) -> None:
    program = textwrap.dedent(f"""
        import atexit, random, threading, time
        import numpy as np
        import axonym as ax
        import axonym.numpy as anp

        atexit.register(lambda: print(float(f(x)[0, 0])))  # the last thread may still compute
        ax.config.backend = "xla"
        x = anp.ones((200, 200))
        f = ax.jit(lambda x: x @ x / 200)
        g = ax.jit(lambda x: x * 2, donate_argnums=0)
        started = threading.Semaphore(0)

        def loop():
            y = x
            while True:
                {WORK[work]}
                started.release()

        threads = [threading.Thread(target=loop, daemon=True) for _ in range(3)]
        [thread.start() for thread in threads]
        [started.acquire() for _ in range(9)]
        print("end")
    """)
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )

    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n1.0\n", "")
