"""Cases of the primitives that move elements: all of them are linear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from axonym import lax
from rule_cases.case import Case, complexes, spaced, truths, whole


def _padded(x: Any, value: Any, config: Any) -> Any:
    """Pad by plain assignment: gaps first, then edges, of which negative ones cut."""
    for axis, (low, high, interior) in enumerate(config):
        x, size = np.moveaxis(x, axis, 0), x.shape[axis]
        spread = np.full((max(size + (size - 1) * interior, 0), *x.shape[1:]), value, x.dtype)
        spread[:: interior + 1] = x
        out = np.full((len(spread) + low + high, *x.shape[1:]), value, x.dtype)
        for k, row in enumerate(spread):
            if 0 <= k + low < len(out):
                out[k + low] = row
        x = np.moveaxis(out, 0, axis)
    return x


def _moved() -> Iterator[tuple[str, Any, Any, tuple[int, ...], str]]:
    """Name, function, reference, shape of the operand, label: functions of one operand."""
    for shape, dims in (((2, 4, 3), (0, 2)), ((2, 3, 1), (0, 1)), ((5, 2, 3), (1, 2))):

        def stretched(x: Any, shape: Any = shape, dims: Any = dims) -> Any:
            kept = [shape[d] if d in dims else 1 for d in range(len(shape))]
            return np.broadcast_to(x.reshape(kept), shape)

        def stretch(x: Any, shape: Any = shape, dims: Any = dims) -> Any:
            return lax.broadcast_in_dim(x, shape, dims)

        yield "broadcast_in_dim", stretch, stretched, (2, 3), f"to {shape}"
    one = lambda x: lax.broadcast_in_dim(x, (2, 4), (0, 1))  # noqa: E731
    yield "broadcast_in_dim", one, lambda x: np.broadcast_to(x, (2, 4)), (2, 1), "of size 1"
    scalar = lambda x: lax.broadcast_in_dim(x, (2, 2), ())  # noqa: E731
    yield "broadcast_in_dim", scalar, lambda x: np.full((2, 2), x), (), "of a scalar"
    for old, new in (
        ((2, 3), (6,)),
        ((6,), (3, 1, 2)),
        ((), (1, 1)),
        ((0, 3), (3, 0)),
        ((4, 3), (2, 6)),
    ):

        def reshape(x: Any, new: Any = new) -> Any:
            return lax.reshape(x, new)

        def reshaped(x: Any, new: Any = new) -> Any:
            return x.reshape(new)

        yield "reshape", reshape, reshaped, old, f"to {new}"
    for order in ((1, 0, 2), (2, 0, 1)):

        def transpose(x: Any, order: Any = order) -> Any:
            return lax.transpose(x, order)

        def transposed(x: Any, order: Any = order) -> Any:
            return x.transpose(order)

        yield "transpose", transpose, transposed, (2, 3, 4), f"to {order}"
    yield "squeeze", lambda x: lax.squeeze(x, (1, 2)), lambda x: x[:, 0, 0], (3, 1, 1), "two"
    yield "squeeze", lambda x: lax.squeeze(x, (0,)), lambda x: x[0], (1, 3, 1), "one"
    yield "rev", lambda x: lax.rev(x, (0,)), lambda x: x[::-1], (3, 2), "along 0"
    yield "rev", lambda x: lax.rev(x, (1, 2)), lambda x: x[:, ::-1, ::-1], (2, 3, 2), "along 1, 2"
    for start, stop, steps in (
        ((1, 0), (4, 3), None),
        ((0, 1), (5, 3), (2, 1)),
        ((1, 0), (5, 3), (3, 2)),
        ((2, 1), (2, 3), None),
    ):

        def cut(x: Any, start: Any = start, stop: Any = stop, steps: Any = steps) -> Any:
            return lax.slice(x, start, stop, steps)

        def taken(x: Any, start: Any = start, stop: Any = stop, steps: Any = steps) -> Any:
            return x[tuple(map(slice, start, stop, steps or (1, 1)))]

        yield "slice", cut, taken, (5, 3), f"{start} to {stop} by {steps}"
    yield (
        "split",
        lambda x: lax.split(x, (1, 0, 3), 0),
        lambda x: np.split(x, [1, 1]),
        (4, 2),
        "along 0",
    )
    yield (
        "split",
        lambda x: lax.split(x, (2, 1), 1),
        lambda x: np.split(x, [2], 1),
        (2, 3),
        "along 1",
    )
    yield (
        "optimization_barrier",
        lambda x: lax.optimization_barrier((x, x * 2)),
        lambda x: [x, x * 2],
        (3,),
        "",
    )


def _of_one() -> Iterator[Case]:
    dtypes = [np.float64, np.float32, ml_dtypes.bfloat16, np.complex64, np.int32, np.bool_]
    for k, (name, fun, reference, shape, label) in enumerate(_moved()):
        others = dtypes[1 + k % 5], dtypes[1 + (k + 2) % 5]
        for dtype in (np.float64, *others):
            kind = np.dtype(dtype).kind
            x = (
                complexes(shape)
                if kind == "c"
                else truths(shape)
                if kind == "b"
                else whole(shape)
                if kind == "i"
                else spaced(shape)
            )
            if name == "optimization_barrier" and kind == "b":
                continue
            yield Case(
                name,
                fun,
                reference,
                (x.astype(dtype),),
                label,
                ((0,),),
                smooth=dtype != ml_dtypes.bfloat16,
            )


def _of_several() -> Iterator[Case]:
    for shapes, dimension in ((((2, 3), (1, 3)), 0), (((2, 1), (2, 0), (2, 3)), 1)):

        def join(*xs: Any, dimension: int = dimension) -> Any:
            return lax.concatenate(xs, dimension)

        def joined(*xs: Any, dimension: int = dimension) -> Any:
            return np.concatenate(xs, dimension)

        xs = tuple(spaced(shape, seed=k) for k, shape in enumerate(shapes))
        together = (tuple(range(len(xs))),)
        yield Case("concatenate", join, joined, xs, f"along {dimension}", together)
        yield Case("concatenate", join, joined, tuple(x.astype("f4") for x in xs), linear=together)
        yield Case("concatenate", join, joined, tuple(whole(shape) for shape in shapes))
    for config in (
        ((1, 2, 0), (0, 0, 1)),
        ((-1, 1, 0), (0, -1, 0)),
        ((0, 0, 2), (-1, 3, 1)),
        ((-1, -1, 1), (0, 0, 0)),
    ):

        def pad(x: Any, value: Any, config: Any = config) -> Any:
            return lax.pad(x, value, config)

        def padded(x: Any, value: Any, config: Any = config) -> Any:
            return _padded(x, value, config)

        x = spaced((3, 2))
        label = f"by {config}"
        yield Case("pad", pad, padded, (x, spaced(())), label, ((0, 1),))
        yield Case("pad", pad, padded, (complexes((3, 2)), np.array(1j)), label, ((0, 1),))
        yield Case("pad", pad, padded, (whole((3, 2)), np.array(9, np.int32)), label)
        yield (
            Case("pad", pad, padded, (np.zeros((0, 2)), spaced(())), label)
            if config[0][0] > 0
            else Case("pad", pad, padded, (x.astype("f4"), np.array(2, "f4")), label, ((0, 1),))
        )
    for dtype, shape, dimension in (
        (np.int32, (2, 3), 1),
        (np.float32, (3,), 0),
        (np.uint8, (3, 2), 0),
    ):

        def counted(dtype: Any = dtype, shape: Any = shape, dimension: int = dimension) -> Any:
            return np.indices(shape)[dimension].astype(dtype)

        def count(dtype: Any = dtype, shape: Any = shape, dimension: int = dimension) -> Any:
            return lax.broadcasted_iota(dtype, shape, dimension)

        yield Case("iota", count, counted, (), f"{np.dtype(dtype)}{list(shape)}")


CASES = [*_of_one(), *_of_several()]
