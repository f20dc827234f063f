"""Checking derivatives against finite differences: for tests of rules, ours and third parties'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axonym_core.trees import tree_flatten, tree_map, tree_unflatten
from axonym_core.types import aval_of, dtypes

from .forward import jvp
from .reverse import vjp

__all__ = ["check_grads"]


def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float = 1e-6,
    rtol: float = 1e-6,
    eps: float = 1e-5,
    seed: int = 0,
) -> None:
    """Check forward and reverse mode of a function against central differences and each other.

    Use float64 arguments; in float32 the differences are too coarse for the default tolerances.

    Args:
        fun: Function of trees of arrays.
        args: Its arguments; floating-point leaves are varied, others held.
        order: Up to which order of derivative to check.
        modes: Which modes, of `"fwd"` and `"rev"`.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        eps: Step of the differences.
        seed: Seed of the random directions.

    Raises:
        AssertionError: A derivative differs; the message names the mode and the order.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> check_grads(lambda x: lax.sin(x), (np.array(0.3),), order=2)
    """
    random = np.random.default_rng(seed)
    args = tuple(args)
    leaves, tree = tree_flatten(args)
    moving = [i for i, x in enumerate(leaves) if dtypes.is_inexact(aval_of(x).dtype)]

    def of_moving(*xs: Any) -> Any:
        full = list(leaves)
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        return fun(*tree_unflatten(tree, full))

    _check(
        of_moving, [np.asarray(leaves[i]) for i in moving], order, modes, atol, rtol, eps, random, 1
    )


def _direction(random: np.random.Generator, x: Any) -> np.ndarray[Any, Any]:
    x = np.asarray(x)
    t = random.standard_normal(x.shape)
    if x.dtype.kind == "c":
        t = t + 1j * random.standard_normal(x.shape)
    return np.asarray(t, x.dtype)


def _check(
    fun: Callable[..., Any],
    xs: Sequence[Any],
    order: int,
    modes: Sequence[str],
    atol: float,
    rtol: float,
    eps: float,
    random: np.random.Generator,
    level: int,
) -> None:
    ts = [_direction(random, x) for x in xs]
    # Arrays of rank 0: NumPy's scalars would count as numbers, of no dtype of their own.
    plus = fun(*[np.asarray(x + eps * t) for x, t in zip(xs, ts, strict=True)])
    minus = fun(*[np.asarray(x - eps * t) for x, t in zip(xs, ts, strict=True)])
    slope = tree_map(lambda a, b: (np.asarray(a) - np.asarray(b)) / (2 * eps), plus, minus)
    if "fwd" in modes:
        _, tangent = jvp(fun, tuple(xs), tuple(ts))
        _close(tangent, slope, atol, rtol, f"forward mode, order {level}")
    if "rev" in modes:
        value, pull = vjp(fun, *xs)
        cts = tree_map(lambda v: _direction(random, v), value)
        back = pull(cts)
        left = sum(
            np.sum(np.asarray(c) * np.asarray(s))
            for c, s in zip(tree_flatten(cts)[0], tree_flatten(slope)[0], strict=True)
        )
        right = sum(np.sum(np.asarray(b) * t) for b, t in zip(back, ts, strict=True))
        _close(right, left, atol, rtol, f"reverse mode, order {level}")
    if order > 1:
        if "fwd" in modes:
            _check(
                lambda *ys: jvp(fun, tuple(ys), tuple(ts))[1],
                xs,
                order - 1,
                modes,
                atol,
                rtol,
                eps,
                random,
                level + 1,
            )
        if "rev" in modes:
            _check(
                lambda *ys: vjp(fun, *ys)[1](cts),
                xs,
                order - 1,
                modes,
                atol,
                rtol,
                eps,
                random,
                level + 1,
            )


def _close(got: Any, want: Any, atol: float, rtol: float, what: str) -> None:
    for g, w in zip(tree_flatten(got)[0], tree_flatten(want)[0], strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol, atol, err_msg=what)
