"""Cases of the primitives that read and write at computed positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from axonym import lax
from rule_cases.case import Case, complexes, spaced, whole

Gather, Scatter = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers


def _windows(indices: Any, sizes: Any, index_map: Any, batching: Any, shape: Any) -> Iterator[Any]:
    """Place of each index vector, and where its window starts in the operand."""
    lead = indices.shape[:-1]
    for place in np.ndindex(*lead):
        start = [0] * len(shape)
        for component, d in zip(indices[place], index_map, strict=True):
            start[d] = int(component)
        for d, b in batching:
            start[d] = place[b]
        yield place, start


def _inside(start: Any, window: Any, shape: Any) -> bool:
    return all(0 <= s <= n - w for s, w, n in zip(start, window, shape, strict=True))


def _clipped(start: Any, window: Any, shape: Any) -> list[int]:
    return [min(max(s, 0), n - w) for s, w, n in zip(start, window, shape, strict=True)]


def gathered(x: Any, indices: Any, n: Any, sizes: Any, mode: str, fill: float) -> Any:
    """`gather` by plain loops."""
    dropped = (*n.collapsed_slice_dims, *n.operand_batching_dims)
    batching = [*zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True)]
    windows = [s for d, s in enumerate(sizes) if d not in dropped]
    lead = indices.shape[:-1]
    ndim = len(windows) + len(lead)
    where = [d for d in range(ndim) if d not in n.offset_dims]
    shape = [0] * ndim
    for d, s in [*zip(n.offset_dims, windows, strict=True), *zip(where, lead, strict=True)]:
        shape[d] = s
    out = np.zeros(shape, x.dtype)
    for place, start in _windows(indices, sizes, n.start_index_map, batching, x.shape):
        target: list[Any] = [slice(None)] * ndim
        for d, k in zip(where, place, strict=True):
            target[d] = k
        if mode == "fill" and not _inside(start, sizes, x.shape):
            out[tuple(target)] = fill
        else:
            start = _clipped(start, sizes, x.shape)
            window = x[tuple(slice(s, s + w) for s, w in zip(start, sizes, strict=True))]
            out[tuple(target)] = window.reshape(windows)
    return out


def scattered(
    x: Any, indices: Any, updates: Any, n: Any, mode: str, combine: Callable[..., Any]
) -> Any:
    """`scatter` and its kin by plain loops."""
    out = np.array(np.broadcast_to(x, x.shape), np.result_type(x, updates))
    dropped = (*n.inserted_window_dims, *n.operand_batching_dims)
    batching = [*zip(n.operand_batching_dims, n.scatter_indices_batching_dims, strict=True)]
    sizes = iter([updates.shape[d] for d in n.update_window_dims])
    window = [1 if d in dropped else next(sizes) for d in range(x.ndim)]
    where = [d for d in range(updates.ndim) if d not in n.update_window_dims]
    for place, start in _windows(
        indices, window, n.scatter_dims_to_operand_dims, batching, x.shape
    ):
        source: list[Any] = [slice(None)] * updates.ndim
        for d, k in zip(where, place, strict=True):
            source[d] = k
        if mode == "drop" and not _inside(start, window, x.shape):
            continue
        start = _clipped(start, window, x.shape)
        target = tuple(slice(s, s + w) for s, w in zip(start, window, strict=True))
        out[target] = combine(out[target], updates[tuple(source)].reshape(window))
    return out


# Label, shape of the operand, indices, dimension numbers, sizes of the windows.
GATHERS: list[tuple[str, Any, Any, Any, Any]] = [
    ("rows", (4, 3), [[0], [3], [1], [3]], Gather((1,), (0,), (0,)), (1, 3)),
    ("elements", (3, 4), [[0, 1], [2, 3], [1, 0]], Gather((), (0, 1), (0, 1)), (1, 1)),
    ("windows", (4, 5), [[[1, 2], [0, 3]], [[2, 0], [1, 1]]], Gather((1, 3), (), (0, 1)), (2, 2)),
    ("columns in front", (3, 4), [[2], [0]], Gather((0,), (1,), (1,)), (3, 1)),
    ("one window", (5,), [3], Gather((0,), (), (0,)), (2,)),
    (
        "by rows",
        (2, 4),
        [[[1], [3], [0]], [[2], [2], [1]]],
        Gather((), (1,), (1,), (0,), (0,)),
        (1, 1),
    ),
]
BEYOND = [[-2], [5], [1], [-1]]


def _gathers() -> Iterator[Case]:
    beyond = ("rows beyond", (4, 3), BEYOND, Gather((1,), (0,), (0,)), (1, 3))
    part = ("windows partly beyond", (5,), [[3], [4], [-1], [0]], Gather((1,), (), (0,)), (3,))
    for label, shape, where, numbers, sizes in (*GATHERS, beyond, part):
        for mode in ("clip", "fill") if "beyond" in label else ("clip",):

            def gather(
                x: Any, i: Any, n: Any = numbers, sizes: Any = sizes, mode: str = mode
            ) -> Any:
                return lax.gather(
                    x, i, n, sizes, mode=mode, fill_value=7 if mode == "fill" else None
                )

            def reference(
                x: Any, i: Any, n: Any = numbers, sizes: Any = sizes, mode: str = mode
            ) -> Any:
                return gathered(x, i, n, sizes, mode, 7)

            indices = np.array(where, np.int32)
            linear = ((0,),) if mode == "clip" else ()
            yield Case(
                "gather", gather, reference, (spaced(shape), indices), f"{label}, {mode}", linear
            )
            yield Case(
                "gather",
                gather,
                reference,
                (spaced(shape).astype("f4"), indices.astype(np.int64)),
                f"{label}, {mode}",
                linear,
            )
            yield Case("gather", gather, reference, (whole(shape), indices), f"{label}, {mode}")
            yield Case(
                "gather", gather, reference, (complexes(shape), indices), f"{label}, {mode}", linear
            )


# Label, shapes of operand and updates, indices, dimension numbers.
SCATTERS: list[tuple[str, Any, Any, Any, Any]] = [
    ("rows", (4, 3), (3, 3), [[0], [3], [1]], Scatter((1,), (0,), (0,))),
    ("elements", (3, 4), (3,), [[0, 1], [2, 3], [1, 0]], Scatter((), (0, 1), (0, 1))),
    ("windows", (4, 5), (2, 2, 2), [[1, 2], [2, 0]], Scatter((1, 2), (), (0, 1))),
    ("one window", (5,), (2,), [3], Scatter((0,), (), (0,))),
    ("by rows", (2, 4), (2, 2), [[[1], [3]], [[2], [0]]], Scatter((), (1,), (1,), (0,), (0,))),
    ("rows twice", (4, 2), (4, 2), [[1], [3], [1], [1]], Scatter((1,), (0,), (0,))),
    ("rows beyond", (4, 3), (4, 3), BEYOND, Scatter((1,), (0,), (0,))),
]


def _scatters() -> Iterator[Case]:
    words: dict[str, Callable[..., Any]] = {
        "scatter": lambda old, new: new,
        "scatter_add": np.add,
        "scatter_mul": np.multiply,
        "scatter_min": np.minimum,
        "scatter_max": np.maximum,
    }
    linear: dict[str, Any] = {
        "scatter": ((0, 2),),
        "scatter_add": ((0, 2),),
        "scatter_mul": ((0,),),
    }
    for (name, word), (label, shape, window, where, numbers) in itertools.product(
        words.items(), SCATTERS
    ):
        for mode in ("clip", "drop") if "beyond" in label else ("drop",):

            def scatter(
                x: Any, i: Any, u: Any, name: str = name, n: Any = numbers, mode: str = mode
            ) -> Any:
                return getattr(lax, name)(x, i, u, n, mode=mode)

            def reference(
                x: Any, i: Any, u: Any, word: Any = word, n: Any = numbers, mode: str = mode
            ) -> Any:
                return scattered(x, i, u, n, mode, word)

            indices = np.array(where, np.int32)
            # On two grids, so that no update is near to what it replaces.
            x, u = spaced(shape), spaced(window, -1.85, 2.2, seed=1)
            x, u = np.round(x * 8) / 8, np.floor(u * 8) / 8 + 1 / 16
            how = (f"{label}, {mode}", linear.get(name, ()))
            yield Case(name, scatter, reference, (x, indices, u), *how, loose=8)
            yield Case(
                name, scatter, reference, (whole(shape), indices, whole(window, 2, 7)), how[0]
            )
            if label == "rows twice":
                yield Case(
                    name,
                    scatter,
                    reference,
                    (x.astype("f4"), indices, u.astype("f4")),
                    *how,
                    loose=8,
                )
                if name in linear:
                    z, v = complexes(shape), complexes(window, 2)
                    yield Case(name, scatter, reference, (z, indices, v), *how, loose=8)
    rows = Scatter((1,), (0,), (0,))
    indices = np.array([[0], [2], [0]], np.int32)

    def over_name(x: Any, u: Any) -> Any:
        return lax.scatter_add(x, indices, u, rows, axis_names=("i",))

    def summed(x: Any, u: Any) -> Any:
        return sum(
            scattered(a, indices, b, rows, "drop", np.add) for a, b in zip(x, u, strict=True)
        )

    yield Case(
        *("scatter_add", over_name, lambda x, u: None, (spaced((3, 2)), spaced((3, 2), seed=1))),
        *("over a name", (), True, True, None, 8.0, summed, False),
    )


def _dynamic() -> Iterator[Case]:
    def cut(x: Any, i: Any, j: Any) -> Any:
        return lax.dynamic_slice(x, (i, j), (2, 3), allow_negative_indices=False)

    def taken(x: Any, i: Any, j: Any) -> Any:
        i, j = _clipped((int(i), int(j)), (2, 3), x.shape)
        return x[i : i + 2, j : j + 3]

    def write(x: Any, u: Any, i: Any, j: Any) -> Any:
        return lax.dynamic_update_slice(x, u, (i, j), allow_negative_indices=False)

    def written(x: Any, u: Any, i: Any, j: Any) -> Any:
        i, j = _clipped((int(i), int(j)), u.shape, x.shape)
        out = np.array(x)
        out[i : i + u.shape[0], j : j + u.shape[1]] = u
        return out

    for i, j in ((1, 2), (9, -3), (-1, 7)):
        starts = np.array(i, np.int32), np.array(j, np.int32)
        label = f"at {i}, {j}"
        x, u = spaced((4, 5)), spaced((2, 3), seed=1)
        yield Case("dynamic_slice", cut, taken, (x, *starts), label, ((0,),))
        yield Case("dynamic_slice", cut, taken, (whole((4, 5)), *starts), label)
        yield Case("dynamic_update_slice", write, written, (x, u, *starts), label, ((0, 1),))
        yield Case(
            "dynamic_update_slice", write, written, (whole((4, 5)), whole((2, 3)), *starts), label
        )


CASES = [*_gathers(), *_scatters(), *_dynamic()]
