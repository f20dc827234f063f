"""Compiled programs that move elements give what the NumPy backend gives, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core import lax, make_jaxpr
from axonym_core.arrays import backends
from axonym_core.settings import config
from axonym_xla.lowering import lower_jaxpr

DTYPES = [
    *(np.bool_, np.int8, np.uint16, np.int32, np.uint64),
    *(np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float32, np.float64),
    *(np.complex64, np.complex128),
]

MOVES: dict[str, Callable[[Any], Any]] = {
    "broadcast": lambda x: lax.broadcast_in_dim(x, (5, 2, 3, 6, 4), (1, 2, 4)),
    "repeat": lambda x: lax.broadcast_in_dim(x[:, :1], (2, 7, 4), (0, 1, 2)),
    "reshape": lambda x: lax.reshape(x, (4, 6)),
    "to a vector": lambda x: lax.reshape(x, (24,)),
    "transpose": lambda x: lax.transpose(x, (2, 0, 1)),
    "squeeze": lambda x: lax.squeeze(x[:1, :, 1:2], (0, 2)),
    "expand": lambda x: lax.expand_dims(x, (0, -1)),
    "rev": lambda x: lax.rev(x, (0, 2)),
    "slice": lambda x: lax.slice(x, (0, 1, 1), (2, 3, 4), (1, 2, 2)),
    "empty": lambda x: lax.slice(x, (1, 1, 1), (1, 3, 4)),
    "split": lambda x: lax.concatenate(lax.split(x, (1, 0, 2), 1)[::-1], 1),
    "concatenate": lambda x: lax.concatenate([x, x[:1]], 0),
    "pad": lambda x: lax.pad(x, x[0, 0, 0], [(1, 2, 0), (0, -1, 2), (-1, 1, 1)]),
    "barrier": lambda x: lax.optimization_barrier((x, x[0]))[1],
    "one barrier": lax.optimization_barrier,
    "pad nothing": lambda x: lax.pad(x[0, 0, 0], x[1, 1, 1], ()),
    "full": lambda x: lax.full((3, 2), x[0, 0, 1]),
}


def sample(dtype: Any) -> np.ndarray[Any, Any]:
    x = np.arange(24).reshape(2, 3, 4) - (0 if np.dtype(dtype).kind in "bu" else 12)
    return (x * (1 + 2j) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def on(backend: str, f: Callable[[], Any]) -> np.ndarray[Any, Any]:
    with config.override(backend=backend):
        return np.asarray(f())


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_elements_of_every_dtype_move(dtype: Any) -> None:
    x = sample(dtype)

    def everything(x: Any) -> Any:
        return [f(x) for f in MOVES.values()]

    program = make_jaxpr(everything)(x)
    results = []
    for name in ("xla", "numpy"):
        with config.override(backend=name):
            backend = backends.current()
            args = [backend.from_host(x, program.in_avals[0])]
            results.append([np.asarray(out) for out in backend.compile(program)(args)])
    for name, got, wanted in zip(MOVES, *results, strict=True):
        assert got.dtype == wanted.dtype, name
        assert got.shape == wanted.shape, name
        assert got.tobytes() == wanted.tobytes(), name


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint32, np.int64, ml_dtypes.bfloat16, np.float64, np.complex64],
    ids=lambda d: np.dtype(d).name,
)  # fmt: skip
def test_counting(dtype: Any) -> None:
    def count() -> Any:
        return lax.broadcasted_iota(dtype, (2, 3, 4), 1)

    np.testing.assert_array_equal(on("xla", count), on("numpy", count), strict=True)


def test_special_values_keep_their_bits() -> None:
    x = np.array([0x7FC00001, 0xFF800000, 0x80000000, 1], np.uint32).view(np.float32)

    def move() -> Any:
        return lax.rev(lax.concatenate([x, x], 0), (0,))

    assert on("xla", move).tobytes() == on("numpy", move).tobytes()


def test_reshapes_that_change_nothing_are_not_written() -> None:
    text = lower_jaxpr(make_jaxpr(lambda x: lax.reshape(x, (2, 3)))(np.ones((2, 3)))).text
    assert "stablehlo" not in text
