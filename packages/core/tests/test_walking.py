"""Walking jaxprs: what is needed, what stays the same, which programs an equation holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from axonym_core import Jaxpr, Primitive, check_jaxpr, config, eval_jaxpr, lax, make_jaxpr
from axonym_core.errors import JaxprTypeError, PrimitiveNameError
from axonym_core.numpy_backend import register_evaluation
from axonym_core.programs import (
    Effect,
    ProgramHolder,
    equations,
    independent_of,
    interpret,
    map_programs,
    programs_in,
    with_results,
)

NOTE = Effect("note")
ONE = np.float32(1)
noted: list[Any] = []


def _note(x: Any) -> Any:
    noted.append(x)
    return x


note_p = Primitive("test_walking.note", lambda x: x, effects=[NOTE])
register_evaluation(note_p, _note)


def _sides(*avals: Any, programs: Any, extra: Any) -> Any:
    return extra.out_avals


def _run_both(*args: Any, programs: Any, extra: Any) -> list[Any]:
    (first, (second,)) = programs
    return eval_jaxpr(extra, *eval_jaxpr(second.jaxpr, *eval_jaxpr(first, *args)))


# Holds programs nested in tuples, in a holder, and one that it does not speak of.
both_p = Primitive(
    "test_walking.both",
    _sides,
    multiple_results=True,
    programs=("programs", "extra"),
    expand=_run_both,
)


def names(eqns: Sequence[Any]) -> list[str]:
    return [e.primitive.name for e in eqns]


def test_what_nobody_reads_is_not_staged_and_neither_are_its_constants() -> None:
    big = lax.iota(np.dtype(np.float32), 3)

    def f(x: Any) -> Any:
        lax.sin(lax.cos(x) + big)
        return lax.exp(x)

    program = make_jaxpr(f)(ONE)

    assert names(program.eqns) == ["exp"]
    assert program.consts == ()


def test_what_has_effects_is_kept_with_what_it_reads() -> None:
    def f(x: Any) -> Any:
        note_p.bind(lax.cos(x))
        lax.sin(x)
        return x

    program = make_jaxpr(f)(ONE)

    assert names(program.eqns) == ["cos", "test_walking.note"]
    assert program.effects == {NOTE}
    noted.clear()
    with config.override(backend="numpy"):
        eval_jaxpr(program, ONE)
    assert len(noted) == 1


def test_a_program_for_other_results_computes_only_what_they_need() -> None:
    program = make_jaxpr(lambda x: (lax.sin(x), lax.exp(lax.cos(x))))(ONE)

    (cosine,) = [e.outvars[0] for e in program.eqns if e.primitive.name == "cos"]
    part = with_results(program, [cosine])

    check_jaxpr(part)
    assert names(part.eqns) == ["cos"]
    np.testing.assert_allclose(eval_jaxpr(part, np.float32(2))[0], np.cos(2.0), rtol=1e-6)


def test_what_does_not_depend_on_an_argument() -> None:
    def f(x: Any, y: Any) -> Any:
        return lax.sin(x) + lax.cos(y) + note_p.bind(x)

    program = make_jaxpr(f)(ONE, ONE)
    same = independent_of(program, program.invars[1:])

    assert [e.primitive.name for e in program.eqns if e.outvars[0] in same] == ["sin"]


def sides() -> tuple[Any, Any, Any]:
    return tuple(make_jaxpr(f)(ONE) for f in (lax.sin, lax.cos, lax.exp))  # type: ignore[return-value]  # three


def test_programs_are_found_where_the_primitive_says() -> None:
    first, second, extra = sides()
    params = {"programs": (first, (ProgramHolder(second),)), "extra": extra}

    assert programs_in(both_p, params) == [first, second, extra]
    changed = map_programs(both_p, params, lambda p: p.replace(eqns=p.eqns))
    inner = programs_in(both_p, changed)
    assert [names(p.eqns) for p in inner] == [["sin"], ["cos"], ["exp"]]
    assert all(p is not q for p, q in zip(inner, (first, second, extra), strict=True))
    program = make_jaxpr(lambda x: both_p.bind(x, **params)[0] * 2.0)(ONE)
    assert names(equations(program)) == ["test_walking.both", "mul", "sin", "cos", "exp"]
    np.testing.assert_allclose(
        eval_jaxpr(program, np.float32(0.3))[0], 2 * np.exp(np.cos(np.sin(0.3))), rtol=1e-6
    )


def test_equations_of_a_program_that_is_held_often_are_walked_once() -> None:
    program = make_jaxpr(lax.sin)(ONE)
    for _ in range(40):
        inner = program
        params = {"programs": (inner, (ProgramHolder(inner),)), "extra": inner}
        program = make_jaxpr(lambda x, p=params: both_p.bind(x, **p)[0])(ONE)

    assert len(list(equations(program))) == 41


def test_a_program_in_a_parameter_that_is_not_declared_is_a_mistake() -> None:
    silent_p = Primitive("test_walking.silent", lambda x, *, program: x)
    program = make_jaxpr(lax.sin)(ONE)

    with pytest.raises(JaxprTypeError, match=r"test_walking\.silent holds a program"):
        check_jaxpr(make_jaxpr(lambda x: silent_p.bind(x, program=program))(ONE))


def test_checking_takes_each_program_once() -> None:
    program: Jaxpr = make_jaxpr(lax.sin)(ONE)
    for _ in range(60):
        params = {"programs": (program, (ProgramHolder(program),)), "extra": program}
        program = make_jaxpr(lambda x, p=params: both_p.bind(x, **p)[0])(ONE)

    check_jaxpr(program)  # 3**60 walks would not end


def test_interpreting_with_another_meaning() -> None:
    program = make_jaxpr(lambda x: lax.sin(x) + lax.cos(x))(ONE)

    (depth,) = interpret(program, [0], lambda eqn, operands: 1 + max(operands))

    assert depth == 2


def test_the_name_of_a_primitive_belongs_to_the_module_that_defined_it() -> None:
    with pytest.raises(PrimitiveNameError, match="'sin' is defined in axonym_core"):
        Primitive("sin", lambda x: x)
    sine = make_jaxpr(lax.sin)(ONE).eqns[0].primitive

    assert sine.__reduce__()[0](*sine.__reduce__()[1]) is sine


def test_a_module_may_define_its_primitives_again() -> None:
    first = Primitive("test_walking.again", lambda x: x)
    second = Primitive("test_walking.again", lambda x: x)

    restore, args = first.__reduce__()
    assert restore(*args) is second


def test_a_primitive_that_nobody_defined_is_named() -> None:
    restore, _ = note_p.__reduce__()

    with pytest.raises(PrimitiveNameError, match="no primitive 'nobody'"):
        restore("nobody")
