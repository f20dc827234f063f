"""Whether the rules of a primitive are right, found out from a case by independent means.

- evaluation and lowering: what NumPy and SciPy say;
- derivatives: finite differences of what they say, once and twice, in 64 bits;
- transposition: `<ct, f(x)> = <f'(ct), x>`;
- batching: one index at a time, for every combination of mapped operands and several places of
  the axis;
- named axes: the positional law, in both readings of reverse mode.

The checks need no rule to be right but those that they check.
"""

from __future__ import annotations

import contextlib
import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import axonym as ax
import axonym.numpy as anp
from axonym_core import config
from rule_cases.case import TOLERANCE, Case, is_inexact, widened

STEP = 1e-3  # of finite differences


def check_evaluation(case: Case) -> None:
    """The value is what NumPy says."""
    _compare(case.fun(*_given(case.operands)), _reference(case, case.operands), case.loose)


def check_lowering(*cases: Case) -> None:
    """Compiled values are what NumPy says; compiled derivatives are those that are not compiled.

    All cases are one program, since that compiles sooner than many.
    """
    cases = tuple(case for case in cases if case.positional is None)
    derived = [c for c in cases if c.smooth and _of_moving(c)[0] and _inexact_results(c)]

    def values(operands: Any) -> Any:
        return [case.fun(*xs) for case, xs in zip(cases, operands, strict=True)]

    def tangents(primals: Any) -> Any:
        pairs = zip(derived, primals, strict=True)
        return [ax.jvp(_of_moving(c)[1], xs, tuple(_directions(c)))[1] for c, xs in pairs]

    operands = [case.operands for case in cases]
    primals = [tuple(c.operands[i] for i in _of_moving(c)[0]) for c in derived]
    with config.override(backend="xla"):
        found, compiled = ax.jit(lambda xs, ys: (values(xs), tangents(ys)))(operands, primals)
    for case, value in zip(cases, found, strict=True):
        with _naming(case):
            _compare(value, _reference(case, case.operands), case.loose)
    for case, tangent, wanted in zip(derived, compiled, tangents(primals), strict=True):
        with _naming(case):
            _compare(tangent, wanted, 10 * case.loose)


def check_jvp(case: Case) -> None:
    """The tangent is the finite difference of the reference, or as the case says."""
    moving, of_moving = _of_moving(case)
    if not moving or not (case.smooth or case.slopes):
        return
    primals = [_given(case.operands)[i] for i in moving]
    for directions in _direction_choices(case):
        _, tangent = ax.jvp(of_moving, tuple(primals), tuple(_given(directions)))
        if not _inexact_results(case):
            assert all(t.dtype == ax.dtypes.float0 for t in _leaves(tangent) if not is_inexact(t))
        elif case.slopes is not None:
            parts = zip(case.slopes, directions, strict=True)
            _compare(tangent, sum(slope * t for slope, t in parts if np.any(t)), case.loose)
        else:
            wanted = _difference(
                _moving_reference(case), [case.operands[i] for i in moving], directions
            )
            _compare(tangent, wanted, 10 * case.loose, 1e-7)


def check_second_derivative(case: Case) -> None:
    """The tangent of the tangent is the difference of differences."""
    moving, of_moving = _of_moving(case)
    if not (moving and case.smooth and case.twice and _inexact_results(case)):
        return
    if any(case.operands[i].dtype not in (np.float64, np.complex128) for i in moving):
        return
    primals = [case.operands[i] for i in moving]
    first, second = _directions(case), _directions(case, "second")

    def tangent(*xs: Any) -> Any:
        return ax.jvp(of_moving, xs, tuple(_given(first)))[1]

    def difference(*xs: Any) -> Any:
        return _difference(_moving_reference(case), xs, first)

    _, found = ax.jvp(tangent, tuple(_given(primals)), tuple(_given(second)))
    _compare(found, _difference(difference, primals, second), 1e6 * case.loose, 1e-7)


def check_transposition(case: Case) -> None:
    """A linear function and its transpose pair alike; so do forward and reverse mode."""
    operands = _given(case.operands)
    for group in case.linear:
        if any(not is_inexact(case.operands[i]) for i in group):
            continue

        def of_group(*xs: Any, group: tuple[int, ...] = group) -> Any:
            full = list(operands)
            for i, x in zip(group, xs, strict=True):
                full[i] = x
            return case.fun(*full)

        xs = [_random(case, case.operands[i], f"x{i}") for i in group]
        out = of_group(*_given(xs))
        cts = _cotangents(case, out)
        pulled = ax.linear_transpose(of_group, *_given(xs))(cts)
        _pair(case, (cts, out), (pulled, xs))

    moving, of_moving = _of_moving(case)
    if moving and case.smooth and case.reverse and _inexact_results(case):
        primals, tangents = [operands[i] for i in moving], _directions(case)
        out, pull = ax.vjp(of_moving, *primals)
        cts = _cotangents(case, out)
        tangent = ax.jvp(of_moving, tuple(primals), tuple(_given(tangents)))[1]
        _pair(case, (cts, tangent), (pull(cts), tangents))


def check_batching(case: Case) -> None:
    """Mapped is what one index at a time gives, wherever the axis lies."""
    stacks = [_stacked(case, x) for x in case.operands]
    for mapped in _combinations(len(stacks)):
        slices = [
            [s[k] if m else s[0] for s, m in zip(stacks, mapped, strict=True)]
            for k in range(case.size)
        ]
        wanted = _stack([_reference(case, xs) for xs in slices])
        for place in ("front", "back", "mixed"):
            axes = [
                _place(place, i, s.ndim) if m else None
                for i, (s, m) in enumerate(zip(stacks, mapped, strict=True))
            ]
            args = [
                np.asarray(s[0]) if a is None else np.moveaxis(s, 0, a)
                for s, a in zip(stacks, axes, strict=True)
            ]
            out_axis = 0 if place == "front" else -1
            found = ax.vmap(case.fun, tuple(axes), out_axis)(*_given(args))
            _compare(
                _map(lambda y, a=out_axis: np.moveaxis(np.asarray(y), a, 0), found),
                wanted,
                case.loose,
            )


def check_named_axis(case: Case) -> None:
    """Under a named axis, values and derivatives are those of the program with a dimension for it.

    Reverse mode is read in both ways: in total, where an operand that is not mapped is one value;
    and element by element, where each index has a copy of it.
    """
    moving, _ = _of_moving(case)
    stacks = [_stacked(case, x) for x in case.operands]
    combinations = [*_combinations(len(stacks))]
    if case.positional is not None:
        combinations.append((False,) * len(stacks))
    for mapped in combinations:
        args = _given([s if m else np.asarray(s[0]) for s, m in zip(stacks, mapped, strict=True)])
        axes = tuple(0 if m else None for m in mapped)
        found = ax.vmap(case.fun, axes, axis_name="i", axis_size=case.size)(*args)
        copies = [
            s if m else np.stack([s[0]] * case.size) for s, m in zip(stacks, mapped, strict=True)
        ]
        varies = any(mapped) if case.varies is None else case.varies
        _compare(found, _copied(case, _positional(case, copies), varies), 10 * case.loose)
        if moving and case.smooth and _inexact_results(case):
            _check_forward(case, moving, mapped, args, varies)
            for total in (True, False) if case.reverse else ():
                _check_reverse(case, moving, mapped, args, varies, total)


def _check_forward(
    case: Case, moving: Sequence[int], mapped: Sequence[bool], args: Sequence[Any], varies: bool
) -> None:
    """Tangents, and tangents of tangents, are differences of the positional reference."""
    points = [np.asarray(args[i]) for i in moving]
    first, second = (
        [_random(case, x, f"{what}{i}") for i, x in zip(moving, points, strict=True)]
        for what in ("first", "second")
    )

    def positional(*xs: Any) -> Any:
        full = [np.asarray(x) for x in args]
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        copies = [x if m else _expand(case, x) for x, m in zip(full, mapped, strict=True)]
        return _copied(case, _positional(case, copies), varies)

    def difference(*xs: Any) -> Any:
        return _difference(positional, xs, first)

    def forward(first: Any, second: Any, *xs: Any) -> Any:
        def tangent(*ys: Any) -> Any:
            full = list(xs)

            def of_moving(*zs: Any) -> Any:
                for i, z in zip(moving, zs, strict=True):
                    full[i] = z
                return case.fun(*full)

            return ax.jvp(of_moving, ys, tuple(first))[1]

        return ax.jvp(tangent, tuple(xs[i] for i in moving), tuple(second))

    axes = tuple(0 if m else None for m in mapped)
    of_moving = [axes[i] for i in moving]
    once, twice = ax.vmap(
        forward, (of_moving, of_moving, *axes), axis_name="i", axis_size=case.size
    )(_given(first), _given(second), *args)
    _compare(once, difference(*points), 10 * case.loose, 1e-7)
    if case.twice and all(x.dtype in (np.float64, np.complex128) for x in points):
        _compare(twice, _difference(difference, points, second), 1e6 * case.loose, 1e-7)


def _check_reverse(
    case: Case,
    moving: Sequence[int],
    mapped: Sequence[bool],
    args: Sequence[Any],
    varies: bool,
    total: bool,
) -> None:
    """Pair the cotangents of reverse mode with differences of the positional reference."""
    shared = [total and not m for m in mapped]  # operands that are one value in this reading
    points = [
        np.asarray(x) if m or one else _expand(case, x)
        for x, m, one in zip(args, mapped, shared, strict=True)
    ]

    def positional(*xs: Any) -> Any:
        full = list(points)
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        out = _positional(
            case, [_expand(case, x) if one else x for x, one in zip(full, shared, strict=True)]
        )
        return out if total else _copied(case, out, varies)

    axes = tuple(0 if m else None for m in mapped)
    out = _positional(
        case, [np.asarray(x) if m else _expand(case, x) for x, m in zip(args, mapped, strict=True)]
    )
    cts = [
        _random(case, y, f"ct{k}", like=z)
        for k, (y, z) in enumerate(zip(_leaves(out), _result_types(case), strict=True))
    ]

    def reverse(cts: Any, *xs: Any) -> Any:
        def of_moving(*ys: Any) -> Any:
            full = list(xs)
            for i, y in zip(moving, ys, strict=True):
                full[i] = y
            return _leaves(case.fun(*full))

        _, pull = ax.vjp(of_moving, *[xs[i] for i in moving], reduce_axes=("i",) if total else ())
        return pull(cts)

    out_axes = tuple(None if shared[i] else 0 for i in moving)
    mapped_reverse = ax.vmap(
        reverse, (0 if varies else None, *axes), out_axes, axis_name="i", axis_size=case.size
    )
    pulled = mapped_reverse(_given(cts), *args)
    directions = [_random(case, points[i], f"t{i}", like=case.operands[i]) for i in moving]
    tangents = _difference(positional, [points[i] for i in moving], directions)
    if not total:
        cts = [c if varies else _expand(case, c) for c in cts]
    _pair(case, (cts, tangents), (pulled, directions))


def _each(check: Callable[[Case], None], named: bool = False) -> Callable[..., None]:
    def check_all(*cases: Case) -> None:
        for case in cases:
            if named or case.positional is None:
                with _naming(case):
                    check(case)

    return check_all


@contextlib.contextmanager
def _naming(case: Case) -> Iterator[None]:
    """Say in errors which case it was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {case}")
        raise


#: What to check of a primitive, all of its cases at once.
CHECKS: dict[str, Callable[..., None]] = {
    "evaluation": _each(check_evaluation),
    "jvp": _each(check_jvp),
    "second derivative": _each(check_second_derivative),
    "transposition": _each(check_transposition),
    "batching": _each(check_batching),
    "named axis": _each(check_named_axis, named=True),
    "lowering": check_lowering,
}


# What the checks share


def _given(xs: Sequence[Any]) -> list[Any]:
    return [anp.asarray(x) for x in xs]


def _leaves(tree: Any) -> list[Any]:
    return list(tree) if isinstance(tree, list | tuple) else [tree]


def _map(fun: Callable[[Any], Any], tree: Any) -> Any:
    return [fun(x) for x in tree] if isinstance(tree, list | tuple) else fun(tree)


def _reference(case: Case, operands: Sequence[Any]) -> Any:
    with np.errstate(all="ignore"):
        return case.reference(*[widened(x) for x in operands])


def _positional(case: Case, copies: Sequence[Any]) -> Any:
    """What NumPy says of operands that all have the axis in front."""
    if case.positional is not None:
        return case.positional(*[widened(x) for x in copies])
    return _stack([_reference(case, [x[k] for x in copies]) for k in range(case.size)])


def _expand(case: Case, x: Any) -> Any:
    return np.stack([np.asarray(x)] * case.size)


def _copied(case: Case, out: Any, varies: bool) -> Any:
    return out if varies else _map(lambda y: _expand(case, y), out)


def _stack(outs: Sequence[Any]) -> Any:
    if isinstance(outs[0], list | tuple):
        return [np.stack(column) for column in zip(*outs, strict=True)]
    return np.stack(outs)


def _stacked(case: Case, x: Any) -> Any:
    """Variations of an operand along a new leading axis; the first is the operand itself."""
    if x.size == 1 and is_inexact(x):
        factors = [np.asarray(1 - 0.05 * k, x.dtype) for k in range(case.size)]
        return np.stack([x * f for f in factors])
    if x.size == 1 and x.dtype == bool:
        return np.stack([x ^ bool(k % 2) for k in range(case.size)])
    return np.stack([np.roll(x.reshape(-1), k).reshape(x.shape) for k in range(case.size)])


def _combinations(count: int) -> Iterator[tuple[bool, ...]]:
    return (c for c in itertools.product((False, True), repeat=count) if any(c))


def _place(place: str, position: int, ndim: int) -> int:
    back = ndim - 1
    return {"front": 0, "back": back, "mixed": position % ndim}[place]


def _result_types(case: Case) -> list[Any]:
    """Avals of the results, from the shape rules alone."""
    if case.positional is None:
        return list(ax.make_jaxpr(case.fun)(*case.operands).out_avals)
    return list(ax.make_jaxpr(case.fun, axis_env=[("i", case.size)])(*case.operands).out_avals)


def _inexact_results(case: Case) -> bool:
    return all(aval.dtype in TOLERANCE for aval in _result_types(case))


def _of_moving(case: Case) -> tuple[list[int], Callable[..., Any]]:
    """Positions of the operands that derivatives are taken in, and the function of these alone."""
    moving = [i for i, x in enumerate(case.operands) if is_inexact(x)]

    def of_moving(*xs: Any) -> Any:
        full = _given(case.operands)
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        return case.fun(*full)

    return moving, of_moving


def _moving_reference(case: Case) -> Callable[..., Any]:
    moving, _ = _of_moving(case)

    def reference(*xs: Any) -> Any:
        full = list(case.operands)
        for i, x in zip(moving, xs, strict=True):
            full[i] = x
        return _reference(case, full)

    return reference


def _random(case: Case, x: Any, what: str, like: Any = None) -> Any:
    """Random numbers of an array's shape, of its dtype or another's, the same in every run."""
    rng = np.random.default_rng(zlib.crc32(f"{case}{what}".encode()))
    dtype = (x if like is None else like).dtype
    values = rng.uniform(0.4, 1.6, np.shape(x)) * rng.choice([-1.0, 1.0], np.shape(x))
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(-1.5, 1.5, np.shape(x))
    return np.asarray(values).astype(dtype)


def _directions(case: Case, what: str = "first") -> list[Any]:
    return [_random(case, case.operands[i], f"{what}{i}") for i in _of_moving(case)[0]]


def _direction_choices(case: Case) -> Iterator[list[Any]]:
    """All operands moving at once, and each one alone."""
    together = _directions(case)
    if len(together) > 1:
        for k in range(len(together)):
            yield [t if i == k else np.zeros_like(t) for i, t in enumerate(together)]
    yield together


def _cotangents(case: Case, out: Any) -> Any:
    cts = [anp.asarray(_random(case, np.asarray(y), f"ct{k}")) for k, y in enumerate(_leaves(out))]
    return type(out)(cts) if isinstance(out, list | tuple) else cts[0]


def _difference(fun: Callable[..., Any], xs: Sequence[Any], ts: Sequence[Any]) -> Any:
    """Derivative of a function along a direction, by central differences of two widths."""

    def at(step: float) -> list[Any]:
        return _leaves(fun(*[widened(x) + step * widened(t) for x, t in zip(xs, ts, strict=True)]))

    values = zip(at(STEP), at(-STEP), at(2 * STEP), at(-2 * STEP), strict=True)
    slopes = [(8 * (a - b) - (c - d)) / (12 * STEP) for a, b, c, d in values]
    return slopes if len(slopes) > 1 else slopes[0]


def _pair(case: Case, one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    """Compare two inner products: sums over the leaves of two trees."""
    products = []
    sizes = []
    for left, right in (one, other):
        terms = [
            widened(a) * widened(b) for a, b in zip(_leaves(left), _leaves(right), strict=True)
        ]
        products.append(np.real(sum(np.sum(t) for t in terms)))
        sizes.append(sum(np.sum(np.abs(t)) for t in terms))
    dtypes = [x.dtype for x in case.operands if is_inexact(x)]
    rtol = max(
        [TOLERANCE[t] for t in dtypes]
        + [TOLERANCE[t.dtype] for t in _result_types(case) if t.dtype in TOLERANCE]
    )
    atol = max(10 * rtol * case.loose, 1e-8) * max(*sizes, 1e-3)
    np.testing.assert_allclose(products[0], products[1], rtol=0, atol=atol)


def _compare(found: Any, wanted: Any, loose: float = 1.0, least: float = 0.0) -> None:
    """Compare trees of arrays: shapes, and numbers within the tolerance of the dtype found."""
    found, wanted = _leaves(found), _leaves(wanted)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        if isinstance(f, list | tuple):
            _compare(f, w, loose, least)
            continue
        f, w = np.asarray(f), np.asarray(w)
        assert f.shape == w.shape, (f.shape, w.shape)
        if f.dtype not in TOLERANCE:
            np.testing.assert_array_equal(f, w)
            continue
        with np.errstate(all="ignore"):
            w = w.astype(f.dtype)
        rtol = max(TOLERANCE[f.dtype] * loose, least)
        scale = np.max(np.abs(widened(w)[np.isfinite(widened(w))]), initial=0.0) or 1.0
        np.testing.assert_allclose(
            widened(f), widened(w), rtol=rtol, atol=max(rtol * min(scale, 1.0), least)
        )
