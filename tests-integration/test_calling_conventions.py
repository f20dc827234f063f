"""Every entrance that takes a function gives what the plain call of the function gives.

Signatures are generated (positional-only parameters, defaults, keyword-only ones, `*args` and
`**kwargs`, static and donated ones), and each function is called in several generated ways by the
same wrapper, one after the other, so that what a wrapper remembers of one call meets the others.
Numbers are such that all sums and products are exact. What is compiled is the NumPy backend's, for
speed: keys are made before a backend is asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import axonym as ax
from axonym import lax
from axonym.tree_util import tree_leaves, tree_map

KINDS = inspect.Parameter


class Signature(NamedTuple):
    """A generated signature; parameters are named by letters, in the order of their places."""

    text: str
    parameters: tuple[inspect.Parameter, ...]

    def names(self, *kinds: Any) -> list[str]:
        """Names of the parameters of some kinds."""
        return [p.name for p in self.parameters if p.kind in kinds]

    @property
    def positional(self) -> list[str]:
        """Names of the parameters that can be given by position."""
        return self.names(KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD)

    @property
    def named(self) -> list[str]:
        """Names of the parameters that can be given by keyword."""
        return self.names(KINDS.POSITIONAL_OR_KEYWORD, KINDS.KEYWORD_ONLY)


@st.composite
def signatures(draw: Any) -> Signature:
    """Signatures of up to five named parameters."""
    only, both, after = draw(st.integers(0, 2)), draw(st.integers(0, 3)), draw(st.integers(0, 2))
    letters = iter("dbcaegf")  # so that the order of names is not that of places
    defaults = draw(st.integers(0, only + both))
    parts: list[str] = []
    for i in range(only + both):
        name = next(letters)
        parts.append(name if i < only + both - defaults else f"{name}={i + 0.5}")
        if i == only - 1:
            parts.append("/")
    variadic = draw(st.booleans())
    if variadic:
        parts.append("*more")
    elif after:
        parts.append("*")
    for i in range(after):
        name = next(letters)
        parts.append(f"{name}={i + 7.25}" if draw(st.booleans()) else name)
    if draw(st.booleans()):
        parts.append("**options")
    text = ", ".join(parts)
    return Signature(text, tuple(inspect.signature(make_function(text)).parameters.values()))


def make_function(signature: str) -> Callable[..., Any]:
    """A function of that signature which tells all of its arguments apart.

    Its result is a sum of the arguments with weights that their names give, of which the variadic
    ones have one for each place or name.
    """
    source = f"def fun({signature}):\n    return total(dict(locals()))\n"
    scope: dict[str, Any] = {"total": total}
    exec(source, scope)
    return scope["fun"]  # type: ignore[no-any-return]


def total(arguments: dict[str, Any]) -> Any:
    """Weighted sum of the arguments."""
    result: Any = np.float32(1)
    for name, value in sorted(arguments.items()):
        inner = dict(enumerate(value)) if isinstance(value, tuple) else value
        if not isinstance(inner, dict):
            inner = {0: inner}
        for place, v in sorted(inner.items()):
            weight = 8 * ord(name[0]) + (place if isinstance(place, int) else ord(place) % 8)
            result = result + v * np.float32(weight)
    return result


@st.composite
def calls(draw: Any, signature: Signature, fixed: frozenset[str] = frozenset()) -> Any:
    """Arguments and keywords that fit a signature; those of `fixed` names are Python numbers."""

    def value(name: str) -> Any:
        if name in fixed:
            return draw(st.sampled_from([0, 1, True, 1.0, 0.0, -0.0, 2.5]))
        return np.float32(draw(st.integers(-8, 8)))

    positional, named = signature.positional, signature.named
    required = {p.name for p in signature.parameters if p.default is p.empty}
    variadic = bool(signature.names(KINDS.VAR_POSITIONAL))
    only = len(signature.names(KINDS.POSITIONAL_ONLY))
    least = sum(1 for n in positional[:only] if n in required)
    count = draw(st.integers(least, len(positional)))
    args = [value(n) for n in positional[:count]]
    if variadic and count == len(positional):
        args += [value("more") for _ in range(draw(st.integers(0, 2)))]
    keywords = [n for n in named if n not in positional[:count]]
    keywords = [n for n in keywords if n in required or draw(st.booleans())]
    kwargs = {n: value(n) for n in draw(st.permutations(keywords))}
    if signature.names(KINDS.VAR_KEYWORD):
        for name in draw(st.lists(st.sampled_from(["u", "v", "w"]), unique=True, max_size=2)):
            kwargs[name] = value(name)
    return tuple(args), kwargs


def same(got: Any, want: Any) -> None:
    """Assert that two trees of numbers are equal."""
    assert [float(x) for x in tree_leaves(got)] == [float(x) for x in tree_leaves(want)]


def dimension(x: Any) -> Any:
    """Two copies of a number."""
    return np.stack([x, x])


# How each entrance is given a call of a function of that many positional arguments; all return what
# the plain call does. Where an entrance takes positional arguments only, keywords stay with `fun`.
def through_jit(fun: Any) -> Any:
    return ax.jit(fun)


def through_inline(fun: Any) -> Any:
    return ax.jit(fun, inline=True)


def through_nested_jit(fun: Any) -> Any:
    inner = ax.jit(fun)
    return ax.jit(lambda *args, **kwargs: inner(*args, **kwargs))


def through_stages(fun: Any) -> Any:
    return lambda *args, **kwargs: ax.jit(fun).lower(*args, **kwargs).compile()(*args, **kwargs)


def through_vmap(fun: Any) -> Any:
    mapped = ax.vmap(fun)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            return fun()
        out = mapped(*tree_map(dimension, args), **tree_map(dimension, kwargs))
        same(out[0], out[1])
        return out[0]

    return call


def through_value_and_grad(fun: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return ax.value_and_grad(fun)(*args, **kwargs)[0] if args else fun(**kwargs)

    return call


def through_grad(fun: Any) -> Any:
    """The sum of an argument times its derivative for all of them, and the constant part."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not args:
            return fun(**kwargs)
        positions = tuple(range(len(args)))
        gradient = ax.grad(fun, positions)(*args, **kwargs)
        rest = fun(*[np.float32(0)] * len(args), **kwargs)
        return rest + sum(g * a for g, a in zip(gradient, args, strict=True))

    return call


def through_vjp(fun: Any) -> Any:
    return lambda *args, **kwargs: ax.vjp(lambda *a: fun(*a, **kwargs), *args)[0]


def through_jvp(fun: Any) -> Any:
    return lambda *args, **kwargs: ax.jvp(lambda *a: fun(*a, **kwargs), args, args)[0]


def through_linearize(fun: Any) -> Any:
    return lambda *args, **kwargs: ax.linearize(lambda *a: fun(*a, **kwargs), *args)[0]


def through_xmap(fun: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        mapped = ax.xmap(
            lambda *a: lax.pmean(fun(*a, **kwargs), "i"),
            ({0: "i"},) * len(args),
            {},
            axis_sizes={"i": 2},
        )
        return mapped(*map(dimension, args))

    return call


def through_make_jaxpr(fun: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        jaxpr = ax.make_jaxpr(fun)(*args, **kwargs)
        return ax.core.eval_jaxpr(jaxpr, *tree_leaves((args, kwargs)))[0]

    return call


def through_eval_shape(fun: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        want = fun(*args, **kwargs)
        assert ax.eval_shape(fun, *args, **kwargs).shape == np.shape(want)
        return want

    return call


ENTRANCES = {
    name.removeprefix("through_"): value
    for name, value in list(globals().items())
    if name.startswith("through_")
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@given(data=st.data())
@settings(max_examples=30)
def test_each_entrance_calls_a_function_as_a_plain_call_does(entrance: str, data: Any) -> None:
    signature = data.draw(signatures())
    fun = make_function(signature.text)
    wrapped = ENTRANCES[entrance](fun)
    with ax.config.override(backend="numpy"):
        for args, kwargs in data.draw(st.lists(calls(signature), min_size=1, max_size=5)):
            same(wrapped(*args, **kwargs), fun(*args, **kwargs))


@given(data=st.data())
@settings(max_examples=80)
def test_static_arguments_are_given_by_place_and_name_and_told_apart(data: Any) -> None:
    signature = data.draw(signatures())
    names, places = signature.named, range(len(signature.positional))
    assume(names or places)
    by_name = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    by_place = data.draw(st.lists(st.sampled_from(places), unique=True)) if places else []
    fixed = frozenset([*by_name, *[signature.positional[i] for i in by_place]])
    fun = make_function(signature.text)

    def bits(arguments: dict[str, Any]) -> Any:
        """The sum, and beside it what only Python sees of the static arguments."""
        static = {n: v for n, v in arguments.items() if n in fixed}
        codes = [sum(map(ord, n + repr(v))) for n, v in sorted(static.items())]
        return total(arguments), [np.float32(c) for c in codes]

    fun.__globals__["total"] = bits  # type: ignore[attr-defined]  # it is a function
    compiled = ax.jit(fun, static_argnames=by_name, static_argnums=by_place)
    with ax.config.override(backend="numpy"):
        for args, kwargs in data.draw(st.lists(calls(signature, fixed), min_size=1, max_size=6)):
            want = fun(*args, **kwargs)
            same(compiled(*args, **kwargs), want)
            same(ax.jit(lambda a=args, k=kwargs: compiled(*a, **k))(), want)


@given(data=st.data())
@settings(max_examples=50)
def test_donated_arguments_are_those_that_were_named_and_no_others(data: Any) -> None:
    signature = data.draw(signatures())
    assume(signature.named)
    donated = data.draw(st.lists(st.sampled_from(signature.named), unique=True, min_size=1))
    fun = make_function(signature.text)
    compiled = ax.jit(fun, donate_argnames=donated)
    with ax.config.override(backend="numpy"):
        for args, kwargs in data.draw(st.lists(calls(signature), min_size=1, max_size=4)):
            # Leaves are the positional arguments in order, then the named ones by name.
            order = signature.positional[: len(args)]
            order += ["more"] * (len(args) - len(order)) + sorted(kwargs)
            mask = compiled.trace(*args, **kwargs).donated
            assert mask == tuple([n in donated for n in order])
            same(compiled(*args, **kwargs), fun(*args, **kwargs))


def test_keywords_and_defaults_have_programs_of_their_own() -> None:
    x, y = ax.numpy.asarray(np.float32(1)), ax.numpy.asarray(np.float32(2))
    f = ax.jit(lambda b, a: b - a)
    same([f(x, y), f(b=x, a=y), f(a=x, b=y), f(x, a=y)], [-1, -1, 1, -1])
    g = ax.jit(lambda a=10.0, b=1.0: a / b)
    same([g(y), g(b=y), g(a=y), g()], [2, 5, 2, 10])


def test_a_keyword_call_donates_what_it_names() -> None:
    f = ax.jit(lambda b, a: (b + a, a * 2), donate_argnames="a")
    for call in (lambda b, a: f(b, a), lambda b, a: f(a=a, b=b), lambda b, a: f(b, a=a)):
        b, a = ax.numpy.ones(4), ax.numpy.full(4, 3.0)
        out = call(b, a)
        assert [v.tolist() for v in out] == [[4.0] * 4, [6.0] * 4]
        assert b.tolist() == [1.0] * 4
        assert not b.is_deleted()


@pytest.mark.parametrize("decorate", [ax.custom_jvp, ax.custom_vjp])
def test_custom_rules_put_keywords_and_defaults_in_their_places(decorate: Any) -> None:
    def plain(b: Any, a: Any = 3.0) -> Any:
        return b - 2.0 * a

    fun = decorate(plain)
    if decorate is ax.custom_jvp:
        fun.defjvp(lambda primals, tangents: (plain(*primals), plain(*tangents)))
    else:
        fun.defvjp(lambda b, a: (plain(b, a), None), lambda _, ct: (ct, -2.0 * ct))
    x, y = np.float32(5), np.float32(7)
    for args, kwargs in (((x, y), {}), ((), {"a": y, "b": x}), ((x,), {"a": y}), ((x,), {})):
        same(fun(*args, **kwargs), plain(*args, **kwargs))
        same(ax.jit(fun)(*args, **kwargs), plain(*args, **kwargs))
