"""Arrays that no memory holds: too large for 64 bits in the type, or when they are read.

Reading without waiting a value that could not be computed ends the process in jaxlib.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax

LIMIT = 2**63


@pytest.mark.parametrize(
    ("shape", "dtype", "fits"),
    [
        ((2**61,), "float32", False),
        ((2**61 - 1,), "float32", True),
        ((LIMIT - 1,), "int8", True),
        ((LIMIT,), "bool", False),
        ((LIMIT,), "int8", False),
        ((2**32, 2**31), "bool", False),
        ((2**59,), "complex128", False),
        ((2**59 - 1,), "complex128", True),
        ((2**61, 0), "float64", False),
        ((0, 2**40, 2**40), "int8", False),
        ((0, 2**30, 2**30), "int8", True),
        ((2**61,), "int4", False),
        ((2**61 - 1,), "uint4", True),
    ],
    ids=str,
)
def test_types_of_2_to_the_63_bytes_or_more_are_refused(
    shape: tuple[int, ...], dtype: str, fits: bool
) -> None:
    if fits:
        assert ax.ShapeDtypeStruct(shape, dtype).shape == shape
        return
    with pytest.raises(ax.errors.ShapeError, match=r"would span \d+ (bytes|bits)"):
        ax.ShapeDtypeStruct(shape, dtype)


TOO_LARGE: dict[str, Callable[[], Any]] = {
    "zeros": lambda: anp.zeros((2**61,)),
    "one hot": lambda: ax.nn.one_hot(3, 10**19),
    "jit": lambda: ax.jit(lambda x: anp.broadcast_to(x, (2**40, 2**40)))(anp.ones(1)),
    "eval_shape": lambda: ax.eval_shape(lambda: anp.zeros((2**62, 2))),
    "make_jaxpr": lambda: ax.make_jaxpr(lambda x: lax.broadcast(x, (2**60, 2**3)))(1.0),
    "arange": lambda: anp.arange(2**62),
    "iota": lambda: lax.iota("int32", 2**61),
}


@pytest.mark.parametrize("make", TOO_LARGE)
def test_programs_do_not_make_larger_ones(make: str, backend: str) -> None:
    with pytest.raises(ValueError, match=r"would span \d+ bytes"):
        TOO_LARGE[make]()


def outer() -> Any:
    x = anp.ones((10**6, 1))
    return x @ x.T


MAKE: dict[str, Callable[[], Any]] = {
    "eye": lambda: anp.eye(10**7),
    "one hot": lambda: ax.nn.one_hot(3, 10**13),
    "outer product": outer,
    "what depends on it": lambda: anp.sum(outer()),
    "another program": lambda: outer()[0, :3],
    "bfloat16": lambda: outer()[0, :3].astype("bfloat16"),
    "int4": lambda: outer()[0, :3].astype("int4"),
    "donated": lambda: ax.jit(lambda x: x @ x.T, donate_argnums=0)(anp.ones((10**6, 1))),
}

READ: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "repr": repr,
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x.reshape(-1)[0].item(),
    "bool": lambda x: bool(x.reshape(-1)[0] > 0),
    "dlpack": lambda x: x.__dlpack__(),
    "copied dlpack": lambda x: x.__dlpack__(copy=True),
    "pickle": pickle.dumps,
    "deepcopy": lambda x: repr(copy.deepcopy(x)),
    "device_get": ax.device_get,
    "device_put": lambda x: repr(ax.device_put(x, ax.local_devices()[0])),
    "wait": ax.block_until_ready,
    "operation": lambda x: repr(x + x),
    "jit": lambda x: repr(ax.jit(lambda x: x + x)(x)),
    "other backend": lambda x: on_numpy(lambda: x + x),
}


def on_numpy(f: Callable[[], Any]) -> Any:
    with ax.config.override(backend="numpy"):
        return f()


def attempt(make: str, read: str) -> str:
    """What comes of it: the child runs this, for the parent to survive."""
    with ax.config.override(backend="xla"):
        try:
            READ[read](MAKE[make]())
        except MemoryError as error:
            return f"{type(error).__name__}: {'memory' in str(error)}"
    return "read"


@pytest.mark.timeout(300)
def test_reading_what_could_not_be_allocated_is_a_memory_error() -> None:
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from test_largest_arrays import MAKE, READ, attempt
        tried = [(m, "asarray") for m in MAKE] + [("another program", r) for r in READ]
        tried += [("outer product", r) for r in ("asarray", "dlpack", "device_put", "pickle")]
        for make, read in tried:
            print(make, read, attempt(make, read), sep=" | ", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), __file__.rpartition("/")[0]],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (0, len(MAKE) + len(READ) + 4), (lines, done.stderr)
    assert [line for line in lines if not line.endswith("OutOfMemoryError: True")] == []
