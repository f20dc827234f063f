"""Staging: running a Python function on tracers and recording what it does as a jaxpr."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays.array import Array, as_concrete, is_frozen
from ..errors import ArgumentTypeError
from ..programs import source_info
from ..programs.checking import check_jaxpr
from ..programs.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var, map_programs, programs_in
from ..programs.naming import UNNAMED, DebugInfo, debug_info
from ..programs.primitive import Primitive
from ..programs.walking import interpret, needed_equations
from ..settings.caches import BoundedCache, PerObject
from ..settings.configuration import config
from ..settings.thread_context import context
from ..trees.operations import (
    PyTreeDef,
    keystr,
    tree_flatten,
    tree_leaves_with_path,
    tree_unflatten,
)
from ..types.avals import AxisName, ShapedArray, ShapeDtypeStruct, aval_of, type_of
from ..types.axes import AxisEnv
from ..types.python_numbers import python_number, settled
from .trace import Trace, Tracer, run_and_end, run_in


class JaxprTracer(Tracer):
    """A value of a program that is being staged."""

    __slots__ = ("_source", "aval", "owner", "variable")

    owner: JaxprTrace

    def __init__(
        self,
        trace: JaxprTrace,
        aval: ShapedArray,
        var: Var,
        source: source_info.SourceInfo | None,
    ) -> None:
        self.owner = trace
        self.aval = aval
        self.variable = var
        self._source = source

    @property
    def source(self) -> source_info.SourceInfo | None:
        """Where the operation that made it stands."""
        return self._source

    def provenance(self) -> str:
        """Say which arguments of which function it depends on, and where it was made."""
        return self.owner.describe_dependence(self)

    def __repr__(self) -> str:
        return f"Traced<{self.aval}>"


class JaxprTrace(Trace):
    """Records equations.

    Args:
        axis_env: Named axes in scope.
        debug: Names for messages.
    """

    __slots__ = ("_constants", "debug", "eqns", "invars")

    def __init__(self, axis_env: AxisEnv, debug: DebugInfo = UNNAMED) -> None:
        super().__init__(axis_env)
        self.eqns: list[JaxprEqn] = []
        self.invars: list[Var] = []
        self.debug = debug
        self.origin = debug.name
        # id of a constant -> its variable, the object itself (its id is the key, so it must stay
        # alive), the array that stands for it and, where the object may change, its contents then
        self._constants: dict[int, tuple[Var, Any, Array, Any]] = {}

    def new_argument(self, aval: ShapedArray) -> JaxprTracer:
        """Add an argument to the program."""
        var = Var(aval)
        self.invars.append(var)
        return JaxprTracer(self, aval, var, None)

    def atom(self, x: Any) -> Atom:
        """Variable or literal for an operand: own tracers, numbers, constants."""
        if type(x) is JaxprTracer and x.owner is self:
            return x.variable
        if isinstance(x, np.generic | bool | int | float | complex):
            return Literal(x, aval_of(x))
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return Literal(x[()], aval_of(x))
        if isinstance(x, Tracer):
            x.require_alive()
        known = self._constants.get(id(x))
        if known is not None and known[3] is not None and known[3] != _contents(x):
            # A NumPy array that was written to since; what it was then stays a constant too.
            self._constants[-len(self._constants) - 1] = known
            known = None
        if known is None:
            value = x if isinstance(x, Array) else as_concrete(x)
            contents = None if is_frozen(x) else _contents(x)
            known = self._constants[id(x)] = (Var(value.aval), x, value, contents)
        return known[0]

    def process(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Record an equation."""
        if primitive.stage is not None:
            return primitive.stage(self, args, params)
        return self.record(primitive, args, params)

    def record(self, primitive: Primitive, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Record an equation as it is, without the primitive's own staging."""
        invars = tuple(
            [
                a.variable if type(a) is JaxprTracer and a.owner is self else self.atom(a)
                for a in args
            ]
        )
        out = primitive.out_avals(tuple([v.aval for v in invars]), params)
        source = source_info.current()
        if primitive.multiple_results:
            outvars = tuple([Var(aval) for aval in out])
            self.eqns.append(JaxprEqn(primitive, invars, outvars, params, source))
            return [JaxprTracer(self, v.aval, v, source) for v in outvars]
        var = Var(out)
        self.eqns.append(JaxprEqn(primitive, invars, (var,), params, source))
        return JaxprTracer(self, out, var, source)

    def splice(self, jaxpr: Jaxpr, args: Sequence[Any]) -> list[Any]:
        """Copy a jaxpr's equations into this program, under new variables."""
        env: dict[Var, Atom] = {}
        for var, const in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            env[var] = self.atom(const)
        for var, arg in zip(jaxpr.invars, args, strict=True):
            env[var] = self.atom(arg)
        source = source_info.current()
        eqns = self.eqns
        for eqn in jaxpr.eqns:
            outvars = []
            for v in eqn.outvars:
                env[v] = new = Var(v.aval)
                outvars.append(new)
            invars = tuple([a if type(a) is Literal else env[a] for a in eqn.invars])
            eqns.append(JaxprEqn(eqn.primitive, invars, tuple(outvars), eqn.params, source))
        return [self.value(a if type(a) is Literal else env[a], source) for a in jaxpr.outvars]

    def value(self, atom: Atom, source: source_info.SourceInfo | None) -> Any:
        """Tracer of a variable, or the number of a literal."""
        if isinstance(atom, Literal):
            return atom.val
        return JaxprTracer(self, atom.aval, atom, source)

    def constant_values(self) -> dict[Var, Array]:
        """The constants so far, by their variables."""
        return {var: value for var, _, value, _ in self._constants.values()}

    def finish(self, results: Sequence[Any]) -> Jaxpr:
        """Return the program that computes these results, without what nobody reads."""
        outvars = [self.atom(x) for x in results]
        eqns, needed = needed_equations(self.eqns, outvars)
        constants = {v: x for v, x in self.constant_values().items() if v in needed}
        jaxpr = Jaxpr(
            self.invars,
            outvars,
            eqns,
            constants.keys(),
            constants.values(),
            debug=self.debug,
        )
        if config.check:
            check_jaxpr(jaxpr)
        return jaxpr

    def describe_dependence(self, tracer: JaxprTracer) -> str:
        """Say which arguments a value depends on, for error messages."""
        _, wanted = needed_equations(self.eqns, [tracer.variable], lambda eqn: False)
        names = [self.debug.argument(i) for i, v in enumerate(self.invars) if v in wanted]
        made = f" It was computed at {tracer.source}." if tracer.source is not None else ""
        if not names:
            return f"It was made while tracing {self.debug.name}.{made} "
        listed = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        plural = "arguments" if len(names) > 1 else "argument"
        return f"It depends on the {plural} {listed} of {self.debug.name}.{made} "


def _contents(x: Any) -> tuple[Any, ...]:
    return (x.shape, x.dtype, x.tobytes())


def trace_flat(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    *,
    debug: DebugInfo | None = None,
    axis_env: AxisEnv | None = None,
) -> Jaxpr:
    """Stage a function of flat arguments that returns a flat sequence.

    Args:
        fun: Called with one tracer per aval.
        in_avals: Types of the arguments.
        debug: Names for messages.
        axis_env: Named axes in scope; by default those of the current trace.

    Returns:
        The program. Its constants may be tracers of enclosing transformations.
    """
    env = context.trace.axis_env if axis_env is None else axis_env
    trace = JaxprTrace(env, debug or UNNAMED)
    args = [trace.new_argument(aval) for aval in in_avals]
    return trace.finish(run_and_end((trace,), fun, *args))


def expanded(
    jaxpr: Jaxpr,
    key: Hashable,
    which: Callable[[Primitive], bool],
    fit: Callable[[Any, ShapedArray], Any] = lambda value, aval: value,
) -> Jaxpr:
    """Write what primitives expand to in their places, in the programs inside too.

    Args:
        jaxpr: The program.
        key: Tells which primitives are meant, and with what they are replaced.
        which: Whether a primitive, which has `expand`, is to be replaced.
        fit: `fit(value, aval)` brings a result of an expansion to the type that it stands for.

    Returns:
        The program itself where there is none of them; else always the same object.
    """

    def make() -> Jaxpr | bool:
        inner = {
            p: expanded(p, key, which, fit)
            for eqn in jaxpr.eqns
            for p in programs_in(eqn.primitive, eqn.params)
        }
        unchanged = all([p is q for p, q in inner.items()])
        if unchanged and not any([_replaced(eqn, which) for eqn in jaxpr.eqns]):
            return False

        def apply(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
            params = map_programs(eqn.primitive, eqn.params, inner.__getitem__)
            if not _replaced(eqn, which):
                return eqn.primitive.bind(*operands, **params)
            out = eqn.primitive.expand(*operands, **params)  # type: ignore[misc]  # it has that
            if not eqn.primitive.multiple_results:
                return fit(out, eqn.outvars[0].aval)
            return [fit(o, v.aval) for o, v in zip(out, eqn.outvars, strict=True)]

        return trace_flat(
            lambda *args: interpret(jaxpr, args, apply), jaxpr.in_avals, debug=jaxpr.debug
        )

    found = jaxpr.derived(("expanded", key), make)
    return found if isinstance(found, Jaxpr) else jaxpr


def _replaced(eqn: JaxprEqn, which: Callable[[Primitive], bool]) -> bool:
    return eqn.primitive.expand is not None and which(eqn.primitive)


class TracedFunction(NamedTuple):
    """A staged function of trees."""

    jaxpr: Jaxpr
    out_tree: PyTreeDef


def trace_tree(
    fun: Callable[..., Any],
    in_tree: PyTreeDef,
    in_avals: Sequence[ShapedArray],
    *,
    debug: DebugInfo | None = None,
    settle: bool = False,
) -> TracedFunction:
    """Stage `fun(*args, **kwargs)` for arguments of the given tree and types.

    Args:
        fun: The function.
        in_tree: Tree of `(args, kwargs)`.
        in_avals: Types of the leaves.
        debug: Names for messages; collected from the function by default.
        settle: Whether results that are numbers take the default width.

    Raises:
        TypeError: The function returns something that is not an array or a number; the message
            says where in the result.
    """
    debug = debug or debug_info(fun, in_tree)
    out_tree: PyTreeDef | None = None

    def flat(*leaves: Any) -> Sequence[Any]:
        nonlocal out_tree
        args, kwargs = tree_unflatten(in_tree, leaves)
        result = fun(*args, **kwargs)
        out_leaves, out_tree = tree_flatten(result)
        for leaf in out_leaves:
            if not isinstance(leaf, Array):
                _require_array(leaf, result, debug.name)
        return [settled(x) if settle else python_number(x) for x in out_leaves]

    jaxpr = trace_flat(flat, in_avals, debug=debug)
    assert out_tree is not None
    return TracedFunction(jaxpr, out_tree)


def _require_array(leaf: Any, result: Any, name: str) -> None:
    try:
        aval_of(leaf)
    except TypeError:
        path = next(keystr(p) for p, x in tree_leaves_with_path(result) if x is leaf)
        raise ArgumentTypeError(
            f"{name} returned a {type(leaf).__name__} at result{path}; a transformed function "
            "returns arrays and numbers in trees (tuples, lists, dicts, registered classes)"
        ) from None


_PROGRAMS_PER_FUNCTION = 256
_traced: PerObject[BoundedCache[TracedFunction]] = PerObject()


def trace_cached(
    fun: Callable[..., Any],
    in_tree: PyTreeDef,
    in_avals: tuple[ShapedArray, ...],
    *,
    key: Hashable = (),
    call: Callable[..., Any] | None = None,
    debug: DebugInfo | None = None,
    settle: bool = False,
) -> TracedFunction:
    """Stage a function as `trace_tree` does, giving the same jaxpr for the same function and types.

    The function is held weakly. A program that closed over tracers of an enclosing transformation
    is not kept.

    Args:
        fun: The function whose identity is the key.
        in_tree: Tree of `(args, kwargs)`.
        in_avals: Types of the leaves.
        key: What else distinguishes the program (static arguments), made with `exact`.
        call: What is called in the place of `fun` (it with static arguments filled in).
        debug: Names for messages.
        settle: Whether results that are numbers take the default width.
    """
    full_key = (in_tree, in_avals, key, settle, context.trace.axis_env, config.trace_key)
    programs = _traced.get(fun)
    if programs is None:
        try:
            programs = _traced.first(fun, BoundedCache(_PROGRAMS_PER_FUNCTION))
        except TypeError:  # not weakly referable: nothing to remember it by
            return trace_tree(call or fun, in_tree, in_avals, debug=debug, settle=settle)
    found = programs.get(full_key)
    if found is not None:
        return found
    debug = debug or debug_info(fun, in_tree)
    traced = trace_tree(call or fun, in_tree, in_avals, debug=debug, settle=settle)
    if any(isinstance(c, Tracer) for c in traced.jaxpr.consts):
        return traced
    return programs.first(full_key, traced)


def clear_traces() -> None:
    """Forget all staged functions."""
    _traced.clear()


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[AxisName, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Return a function that stages `fun` and returns its jaxpr.

    Args:
        fun: Function of trees of arrays.
        static_argnums: Positions of arguments that are Python values, not traced.
        axis_env: Named axes to have in scope, as `(name, size)`; arguments vary over those that
            their `named_shape` lists (`ShapeDtypeStruct(shape, dtype, named_shape=...)`).
        return_shape: Also return the tree of `ShapeDtypeStruct` of the results.

    Returns:
        A function that takes the arguments of `fun` (a `ShapeDtypeStruct` may stand for an array)
        and returns a `Jaxpr`.

    Example:
        >>> from axonym_core import lax
        >>> make_jaxpr(lambda x: lax.sin(x))(np.float32(1))
        { lambda ; a:f32[]. let
            b:f32[] = sin a
          in (b,) }
    """
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        env = context.trace.axis_env
        for name, size in axis_env or ():
            env = env.extend(name, size)
        fixed = {i % len(args): args[i] for i in static}
        dynamic = [a for i, a in enumerate(args) if i not in fixed]

        def call(*moving: Any, **kw: Any) -> Any:
            rest = iter(moving)
            return fun(*[fixed[i] if i in fixed else next(rest) for i in range(len(args))], **kw)

        leaves, in_tree = tree_flatten((tuple(dynamic), kwargs))
        stage = partial(trace_tree, debug=debug_info(fun, in_tree), settle=True)
        avals = [type_of(python_number(x)) for x in leaves]
        traced = run_in(JaxprTrace(env), stage, call, in_tree, avals)
        if not return_shape:
            return traced.jaxpr
        shapes = [struct_of(aval) for aval in traced.jaxpr.out_avals]
        return traced.jaxpr, tree_unflatten(traced.out_tree, shapes)

    return jaxpr_of


def struct_of(aval: ShapedArray) -> Any:
    """`ShapeDtypeStruct` of an aval."""
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, named_shape=aval.named, weak_type=aval.weak_type
    )


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Types of a function's results, without computing them.

    Args:
        fun: Function of trees of arrays.
        *args: Its arguments; a `ShapeDtypeStruct` may stand for an array.
        **kwargs: Its keyword arguments.

    Returns:
        The tree of results with `ShapeDtypeStruct` leaves.

    Example:
        >>> from axonym_core import lax
        >>> eval_shape(lax.sin, ShapeDtypeStruct((3,), "float32"))
        ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    leaves, in_tree = tree_flatten((args, kwargs))
    traced = trace_tree(fun, in_tree, [type_of(python_number(x)) for x in leaves], settle=True)
    return tree_unflatten(traced.out_tree, [struct_of(a) for a in traced.jaxpr.out_avals])
