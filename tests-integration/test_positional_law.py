"""The positional law: a program over named axes means what it means on whole arrays.

For a program P let P⁺ be the same program with every named axis a leading dimension. Then

* evaluation and jvp of P equal those of P⁺;
* `vjp(P, reduce_axes=all)` equals `vjp(P⁺)`, unmapped for unmapped arguments;
* `vjp(P, reduce_axes=())` equals the VJP of P⁺ with every unmapped argument replaced by copies and
  every unmapped result copied to each index, with the same cotangent at each;
* with some of the axes named, each follows its own reading;
* and all of this inside and outside of `jit`.

P⁺ is evaluated and differentiated by `positional_programs` in plain NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from positional_control import While
from positional_examples import EXAMPLES
from positional_lanes import Ambiguous, Lanes, Names
from positional_programs import Program, has
from positional_strategies import programs

from axonym_autodiff import jvp, linearize, vjp
from axonym_compile import CompiledFunctionCache, jit
from axonym_core import ShapeDtypeStruct, config, make_jaxpr
from axonym_core.arrays import as_concrete
from axonym_mapping import vmap, xmap

ON_NUMPY, ON_XLA, UNDER_JIT, OUTSIDE, TYPES, SECOND_ORDER = 250, 200, 60, 120, 150, 60

# A failing program is worth the time that it takes to make it small.
pytestmark = pytest.mark.timeout(900)


def law(examples: int) -> settings:
    """Settings: new programs at each run, save where the same commit has to get the same answer."""
    return settings(
        max_examples=examples,
        derandomize="REPEATABLE" in os.environ,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
        ],
    )


def mapped(program: Program, fun: Callable[..., Any], ins: Sequence[Names], outs: Any) -> Any:
    """Map a function over the axes of a program, in the program's style.

    Args:
        program: The program.
        fun: Function of values that vary over axes.
        ins: Axes of each argument; they are its leading dimensions, in order of names.
        outs: The same for the results, as a tree.
    """
    axes = program.axes
    if program.style.startswith("xmap"):
        entry = _as_list if program.style == "xmap list" else _as_dict
        in_axes = tuple(entry(n) for n in ins)
        return xmap(fun, in_axes, _tree(entry, outs), axis_sizes=axes)
    order = list(axes)[:: -1 if program.style == "vmap reversed" else 1]
    for position, axis in reversed(list(enumerate(order))):
        here = frozenset(order[position:])

        def place(names: Names, axis: str = axis, here: Names = here) -> int | None:
            return sorted(names & here).index(axis) if axis in names else None

        in_axes = tuple(place(n) for n in ins)
        fun = vmap(fun, in_axes, _tree(place, outs), axis_name=axis, axis_size=axes[axis])
    return fun


def _as_list(names: Names) -> list[Any]:
    return [*sorted(names), ...]


def _as_dict(names: Names) -> dict[int, str]:
    return dict(enumerate(sorted(names)))


def _tree(entry: Callable[[Names], Any], names: Any) -> Any:
    if isinstance(names, frozenset):
        return entry(names)
    return tuple(_tree(entry, n) for n in names)


def readings(program: Program) -> list[tuple[str, ...]]:
    """All choices of axes to read collectively."""
    names = list(program.axes)
    return list(chain.from_iterable(combinations(names, k) for k in range(len(names) + 1)))


class Case:
    """A program with numbers: arguments, tangents, cotangents, and what P⁺ says of them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.floats = program.floats
        self.in_names = [i.names for i in program.inputs]
        self.float_names = [i.names for i in self.floats]
        self.out_names = program.out_names
        self.tangents = [
            program.random(i.names, i.shape, 100 + k) for k, i in enumerate(self.floats)
        ]
        self.outs, self.out_tangents = program.jvp(self.tangents)
        self.cts = [
            program.random(n, o.shape[len(n) :], 200 + k)
            for k, (n, o) in enumerate(zip(self.out_names, self.outs, strict=True))
        ]
        # A loop of unknown length has no reverse mode.
        self.readings = [] if has(program.body, While) else readings(program)

    def forward(self, of: Callable[..., Any]) -> Any:
        """Function of arguments and tangents: values, the two of jvp, tangents by linearize."""
        count = len(self.floats)

        def both(args: Sequence[Any], tangents: Sequence[Any]) -> Any:
            floats, ints = args[:count], args[count:]

            def of_floats(*xs: Any) -> Any:
                return of(*xs, *ints)

            linear = linearize(of_floats, *floats)[1](*tangents)
            return of(*args), *jvp(of_floats, tuple(floats), tuple(tangents)), linear

        return self._mapped(both, names_of(self.tangents), (self.out_names,) * 4)

    def backward(self, of: Callable[..., Any], reduce_axes: tuple[str, ...]) -> Any:
        """Function of arguments and cotangents: cotangents of the arguments."""
        count = len(self.floats)
        copied = self.copied(reduce_axes)

        def pull(args: Sequence[Any], cts: Sequence[Any]) -> Any:
            floats, ints = args[:count], args[count:]
            _, f_vjp = vjp(lambda *xs: of(*xs, *ints), *floats, reduce_axes=reduce_axes)
            return f_vjp(tuple(cts))

        return self._mapped(pull, names_of(self.cts), [n | copied for n in self.float_names])

    def copied(self, reduce_axes: tuple[str, ...]) -> Names:
        return frozenset(self.program.axes) - frozenset(reduce_axes)

    def _mapped(self, fun: Callable[..., Any], more: Sequence[Names], outs: Any) -> Any:
        n = len(self.in_names)

        def flat(*xs: Any) -> Any:
            return fun(xs[:n], xs[n:])

        return mapped(self.program, flat, [*self.in_names, *more], tuple(outs))

    def everything(self, of: Callable[..., Any]) -> Callable[..., Any]:
        """All of it at once, as one function of arguments, tangents and cotangents."""

        def run(args: Any, tangents: Any, cts: Any) -> Any:
            return (
                self.forward(of)(*args, *tangents),
                tuple(self.backward(of, r)(*args, *cts) for r in self.readings),
            )

        return run

    def check(self, found: Any) -> None:
        """Compare results of `everything` with P⁺."""
        (values, jvp_values, jvp_tangents, linear_tangents), pulled = found
        agree(values, self.outs, "evaluation")
        agree(jvp_values, self.outs, "value of jvp")
        agree(jvp_tangents, self.out_tangents, "tangent of jvp")
        agree(linear_tangents, self.out_tangents, "tangent of the linear map")
        for reduce_axes, cts in zip(self.readings, pulled, strict=True):
            wanted = self.program.vjp(self.cts, self.copied(reduce_axes))
            agree(cts, wanted, f"vjp with reduce_axes={reduce_axes}")

    @property
    def data(self) -> tuple[Any, Any, Any]:
        args = tuple(as_concrete(v) for v in self.program.values)
        return args, arrays_of(self.tangents), arrays_of(self.cts)


def names_of(values: Sequence[Lanes]) -> list[Names]:
    return [frozenset(v.names) for v in values]


def arrays_of(values: Sequence[Lanes]) -> tuple[Any, ...]:
    return tuple(v.data for v in values)


def agree(found: Sequence[Any], wanted: Sequence[Any], what: str, tolerance: float = 1e-9) -> None:
    """Assert that results equal those of P⁺."""
    assert len(found) == len(wanted), what
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        np.testing.assert_allclose(
            np.asarray(a), b, rtol=tolerance, atol=tolerance, err_msg=f"{what}, number {k}"
        )


def case_of(program: Program) -> Case:
    """The case of a program, unless it hangs on rounding."""
    try:
        case = Case(program)
        for r in case.readings:
            program.vjp(case.cts, case.copied(r))
    except Ambiguous:
        assume(False)
    return case


def note(program: Program) -> None:
    """Count programs by the kinds of operations in them (shown by --hypothesis-show-statistics)."""
    event(f"axes: {len(program.axes)}, {program.style}")


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_law_for_programs_that_once_broke_it(name: str, backend: str) -> None:
    program = EXAMPLES[name]
    case = Case(program)
    with config.override(backend=backend):
        if backend == "numpy":
            case.check(case.everything(program.named)(*case.data))
            case.check(case.everything(jit(program.named))(*case.data))
        case.check(jit(case.everything(program.named))(*case.data))
    check_types(program)
    if case.readings:
        check_derivatives_of_the_map(program, case)


@given(programs())
@law(ON_NUMPY)
def test_law_on_numpy(program: Program) -> None:
    case = case_of(program)
    note(program)
    with config.override(backend="numpy"):
        case.check(case.everything(program.named)(*case.data))


@given(programs())
@law(UNDER_JIT)
def test_law_with_jit_inside_and_outside_on_numpy(program: Program) -> None:
    case = case_of(program)
    cache = CompiledFunctionCache(16)
    inside = jit(program.named, cache=cache)
    with config.override(backend="numpy"):
        case.check(jit(case.everything(program.named), cache=cache)(*case.data))
        case.check(case.everything(inside)(*case.data))


@given(programs(size=5))
@law(ON_XLA)
def test_law_on_xla(program: Program) -> None:
    case = case_of(program)
    cache = CompiledFunctionCache(4)
    with config.override(backend="xla"):
        case.check(jit(case.everything(program.named), cache=cache)(*case.data))


@given(programs())
@law(TYPES)
def test_types_of_results_say_over_which_axes_they_vary(program: Program) -> None:
    check_types(program)


def check_types(program: Program) -> None:
    structs = [
        ShapeDtypeStruct(
            i.shape,
            np.float64 if i.kind == "f" else np.int32,
            named_shape={n: program.axes[n] for n in i.names},
        )
        for i in program.inputs
    ]
    jaxpr = make_jaxpr(program.named, axis_env=list(program.axes.items()))(*structs)

    assert [a.names for a in jaxpr.out_avals] == program.out_names


@given(programs(loops=False))
@law(OUTSIDE)
def test_derivatives_of_the_mapped_program_are_those_of_the_positional_one(
    program: Program,
) -> None:
    check_derivatives_of_the_map(program, case_of(program))


def check_derivatives_of_the_map(program: Program, case: Case) -> None:
    count = len(case.floats)
    floats, ints = case.data[0][:count], case.data[0][count:]
    whole = mapped(program, program.named, case.in_names, tuple(case.out_names))

    def of(*floats: Any) -> Any:
        return whole(*floats, *ints)

    with config.override(backend="numpy"):
        values, f_vjp = vjp(of, *floats)
        agree(values, case.outs, "value of vjp")
        cts = [
            ct.along(tuple(sorted(n)), program.axes)
            for ct, n in zip(case.cts, case.out_names, strict=True)
        ]
        agree(f_vjp(tuple(cts)), program.vjp(case.cts), "vjp of the map")
        directions = [
            t.along(tuple(sorted(n)), program.axes)
            for t, n in zip(case.tangents, case.float_names, strict=True)
        ]
        _, tangents = jvp(of, tuple(floats), tuple(directions))
        agree(tangents, case.out_tangents, "jvp of the map")
        _, f_jvp = linearize(of, *floats)
        agree(f_jvp(*directions), case.out_tangents, "linear map of the map")


@given(programs(loops=False, honest=True, size=4))
@law(SECOND_ORDER)
def test_second_derivatives_follow_the_law(program: Program) -> None:
    case = case_of(program)
    count = len(case.floats)
    step = 1e-5
    for reduce_axes in case.readings:
        copied = case.copied(reduce_axes)

        def forward_over_reverse(
            args: Sequence[Any], more: Sequence[Any], reduce_axes: tuple[str, ...] = reduce_axes
        ) -> Any:
            floats, ints = args[:count], args[count:]
            tangents, cts = more[:count], more[count:]

            def pull(*xs: Any) -> Any:
                _, f_vjp = vjp(lambda *ys: program.named(*ys, *ints), *xs, reduce_axes=reduce_axes)
                return f_vjp(tuple(cts))

            return jvp(pull, tuple(floats), tuple(tangents))[1]

        fun = case._mapped(
            forward_over_reverse,
            [*names_of(case.tangents), *names_of(case.cts)],
            [n | copied for n in case.float_names],
        )
        with config.override(backend="numpy"):
            found = fun(*case.data[0], *case.data[1], *case.data[2])
        wanted = central_difference(program, case, copied, step)
        agree(found, wanted, f"derivative of vjp with reduce_axes={reduce_axes}", 2e-5)


def central_difference(program: Program, case: Case, copied: Names, step: float) -> list[Any]:
    """Change of the VJP of P⁺ in the direction of the tangents."""
    results = []
    original = list(program.values)
    for sign in (1.0, -1.0):
        for k, t in enumerate(case.tangents):
            names = tuple(sorted(program.inputs[k].names))
            program.values[k] = original[k] + sign * step * t.along(names, program.axes)
        try:
            results.append(program.vjp(case.cts, copied))
        except Ambiguous:
            assume(False)
        finally:
            program.values[:] = original
    up, down = results
    return [(a - b) / (2 * step) for a, b in zip(up, down, strict=True)]
