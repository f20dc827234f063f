"""A process forked after the XLA client had started computes nothing, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import os, sys, pickle, threading
    import numpy as np
    import axonym as ax
    import axonym.numpy as anp
    from axonym import lax

    ax.config.backend = "xla"
    x = anp.arange(3.0)
    f = ax.jit(lambda x: x * 2)
    g = ax.jit(lambda x: (x, x * 2))
    h = ax.jit(lambda x: x * x + x.sum(), donate_argnums=0)
    k = ax.jit(lambda: x * 2)
    ahead = ax.jit(lambda x: x - 1).lower(x).compile()
    small = x.astype("int4")
    done = [f(x), g(x), h(x + 0), k(), ahead(x), x + x, ax.grad(lambda x: x * x)(1.0)]
    ax.block_until_ready(done)
    x.block_until_ready()
    small.block_until_ready()
    late = ax.jit(lambda x: lax.fori_loop(0, 2000, lambda i, x: x @ x / 1000, x))(
        anp.ones((1000, 1000)))

    USES = {
        "jit": lambda: f(x), "two results": lambda: g(x), "donate": lambda: h(x),
        "no argument": lambda: k(), "ahead": lambda: ahead(x), "operation": lambda: x + x,
        "new operation": lambda: anp.arctan(x), "new program": lambda: ax.jit(lambda x: x - 7)(x),
        "put": lambda: ax.device_put(np.ones(3)), "array": lambda: anp.ones(3),
        "grad": lambda: ax.grad(lambda x: x * x)(1.0), "devices": lambda: ax.devices(),
        "move": lambda: ax.device_put(x, np), "read late": lambda: np.asarray(late),
        "wait late": lambda: late.block_until_ready(), "index": lambda: x[1],
        "dlpack": lambda: np.from_dlpack(x),
    }
    read, write = os.pipe()
    if os.fork() == 0:
        out = []
        for name, use in USES.items():
            try:
                use()
                out.append(f"{name}: no error")
            except ax.errors.ClientError as error:
                out.append(f"{name}: {'forked' in str(error) and 'spawn' in str(error)}")
            except BaseException as error:
                out.append(f"{name}: {type(error).__name__} {error}")
        out.append(f"read: {np.asarray(x).tolist() == pickle.loads(pickle.dumps(x.tolist()))}")
        with ax.config.override(backend="numpy"):
            out.append(f"numpy: {(x + 1).tolist() == [1, 2, 3] and f(x).tolist() == [0, 2, 4]}")
        os.write(write, "\\n".join(out).encode())
        os._exit(0)
    os.wait()
    print(os.read(read, 10**5).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.timeout(120)
def test_every_entrance_is_refused_in_a_forked_process() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 19
    assert [line for line in lines if not line.endswith(": True")] == []
