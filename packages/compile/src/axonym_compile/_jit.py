"""`jit`: functions compiled as a whole.

Called with concrete arrays, a `CompiledFunction` looks up the program for their types, compiling it
at first, and runs it. Called inside a transformation it stages a call of the function's jaxpr, or,
with `inline=True`, puts the jaxpr's equations into the caller.

What a hit costs is the dispatch time of every program, so the case of positional arrays has a path
of its own: the key is the arrays' avals, which are interned.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial, update_wrapper
from operator import is_
from types import MethodType
from typing import Any, Generic, ParamSpec, Self, TypeVar, final, overload

from axonym_core.arrays import ConcreteArray, as_concrete, backends
from axonym_core.errors import ArgumentTypeError
from axonym_core.primitives.calls import jit_p
from axonym_core.programs import DebugInfo, debug_info, eval_jaxpr
from axonym_core.settings import BoundedCache, config, context
from axonym_core.tracing import JaxprTrace, TracedFunction, eval_trace, struct_of, trace_cached
from axonym_core.trees import PyTreeDef, keystr, tree_flatten, tree_leaves_with_path, tree_unflatten
from axonym_core.types import ShapedArray, aval_of, python_number, type_of

from ._arguments import is_named, selection, static_key
from ._cache import CompiledFunctionCache, default_cache
from ._cache_report import MissExplanation
from ._stages import Lowered, Traced
from .errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger("axonym.compile")

# Stand for options of `jit` in keys, since the hash is part of every call.
_options: BoundedCache[object] = BoundedCache(4096)


@final
class _Program:
    """A compiled program: `call` takes arrays of the types it was compiled for, `run` too."""

    __slots__ = ("__weakref__", "call", "out_tree", "single")

    def __init__(self, executable: backends.Executable, out_tree: PyTreeDef) -> None:
        self.call = executable.call
        self.out_tree = out_tree
        self.single = out_tree.num_nodes == 1 and out_tree.num_leaves == 1

    def run(self, leaves: Sequence[ConcreteArray]) -> Any:
        """Run it, and put the results into their tree."""
        outs = self.call(leaves)
        return outs[0] if self.single else tree_unflatten(self.out_tree, outs)


@final
class _Call:
    """One call, taken apart: the leaves, and what the program depends on beside their types."""

    __slots__ = ("call", "debug", "donated", "in_tree", "leaves", "positional", "static")

    def __init__(
        self,
        leaves: list[Any],
        in_tree: PyTreeDef,
        static: Hashable,
        donated: tuple[bool, ...],
        call: Callable[..., Any],
        debug: DebugInfo,
        positional: bool,
    ) -> None:
        self.leaves = leaves
        self.in_tree = in_tree
        self.static = static
        self.donated = donated
        self.call = call
        self.debug = debug
        self.positional = positional  # whether each leaf is an argument, and none has a name


@final
class CompiledFunction(Generic[P, R]):
    """A function that is compiled for the types of its arguments; see `jit`."""

    def __init__(
        self,
        fun: Callable[P, R],
        *,
        static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
        donate_argnums: int | Sequence[int] | None = None,
        donate_argnames: str | Iterable[str] | None = None,
        inline: bool = False,
        cache: CompiledFunctionCache | None = None,
    ) -> None:
        if not callable(fun):
            raise ArgumentTypeError(f"jit: fun must be a function, got {type(fun).__name__}")
        update_wrapper(self, fun)
        self._fun = fun
        self._name = debug_info(fun).name
        self._static = selection(fun, static_argnums, static_argnames, "static")
        self._donate = selection(fun, donate_argnums, donate_argnames, "donate")
        self._inline = inline
        self.cache = default_cache() if cache is None else cache
        self._entries = self.cache.entries(fun)
        self._options = _options.first((self._donate, self._static), object())
        self._plain = not self._static.names and not self._static.positions

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function.

        Raises:
            ArgumentError: An argument is neither an array nor a number.
            StaticArgumentError: A static argument is not hashable.
        """
        if context.trace is not eval_trace:
            return self._under_trace(self._take_apart(args, kwargs))  # type: ignore[no-any-return]  # Any by nature
        if self._plain and not kwargs:
            key: tuple[Any, ...]
            if len(args) == 1 and type(args[0]) is ConcreteArray:
                key = (config.dispatch_key, self._options, args[0].aval)
            else:
                avals = [x.aval for x in args if type(x) is ConcreteArray]
                key = (config.dispatch_key, self._options, *avals)
            if len(key) == len(args) + 2:  # positional arrays, and nothing else
                entries = self._entries
                entry = entries.find(key)
                if entry is not None:
                    entry.used = entries.tick()
                    entries.hit()
                    program = entry.value
                else:
                    call = self._take_apart(args, kwargs)
                    program = entries.lookup(key, partial(self._compile, call))
                if program.single:
                    return program.call(args)[0]  # type: ignore[no-any-return]  # Any by nature
                return tree_unflatten(program.out_tree, program.call(args))  # type: ignore[no-any-return]  # Any by nature
        return self._run(self._take_apart(args, kwargs))  # type: ignore[no-any-return]  # Any by nature

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method: the instance becomes the first argument."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled function {self._name}>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself, as for any function."""
        return self

    def __reduce__(self) -> Any:
        """Pickle by name, as functions are, or by the function and the options of `jit`.

        What it is restored to compiles into the default cache.
        """
        module, name = getattr(self, "__module__", None), getattr(self, "__qualname__", "")
        if is_named(self, module, name):
            return name
        options: dict[str, Any] = {
            "static_argnums": tuple(self._static.positions),
            "static_argnames": tuple(self._static.names),
            "donate_argnums": tuple(self._donate.positions),
            "donate_argnames": tuple(self._donate.names),
            "inline": self._inline,
        }
        return (partial(CompiledFunction, **options), (self._fun,))

    def _take_apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        fun = self._fun
        static: list[Any] = []
        if self._plain:
            dynamic, named = args, kwargs
            call: Callable[..., Any] = fun
            debug = None
        else:
            positions = self._static.resolve(len(args))
            fixed = {i: args[i] for i in sorted(positions) if i < len(args)}
            fixed_names = {k: v for k, v in kwargs.items() if k in self._static.names}
            for where, value in (*fixed.items(), *sorted(fixed_names.items())):
                static.append((where, static_key(value, repr(where), self._name)))
            dynamic = tuple([a for i, a in enumerate(args) if i not in fixed])
            named = {k: v for k, v in kwargs.items() if k not in fixed_names}
            total = len(args)

            def call(*moving: Any, **keywords: Any) -> Any:
                rest = iter(moving)
                full = [fixed[i] if i in fixed else next(rest) for i in range(total)]
                return fun(*full, **keywords, **fixed_names)

        leaves, in_tree = tree_flatten((dynamic, named))
        positional = not named and len(leaves) == len(dynamic) and all(map(is_, leaves, dynamic))
        leaves = [x if type(x) is ConcreteArray else python_number(x) for x in leaves]
        debug = debug_info(fun, in_tree)
        if static:
            taken = {where for where, _ in static}
            debug = debug._replace(
                parameters=tuple([n for i, n in enumerate(debug.parameters) if i not in taken])
            )
        return _Call(
            leaves,
            in_tree,
            tuple(static),
            self._donated(args, kwargs, in_tree.num_leaves),
            call,
            debug,
            positional,
        )

    def _donated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], num_leaves: int
    ) -> tuple[bool, ...]:
        if not self._donate.positions and not self._donate.names:
            return ()
        positions = self._donate.resolve(len(args))
        static = self._static.resolve(len(args))
        groups = [(a, i in positions) for i, a in enumerate(args) if i not in static]
        # Dictionary leaves come in the order of sorted keys.
        groups += [
            (kwargs[k], k in self._donate.names)
            for k in sorted(kwargs)
            if k not in self._static.names
        ]
        return tuple([d for a, d in groups for _ in range(len(tree_flatten(a)[0]))])

    def _avals(
        self, call: _Call, of: Callable[[Any], ShapedArray] = aval_of
    ) -> tuple[ShapedArray, ...]:
        try:
            return tuple([x.aval if type(x) is ConcreteArray else of(x) for x in call.leaves])
        except TypeError:
            self._refuse(call)
            raise

    def _refuse(self, call: _Call) -> None:
        """Raise the error that names the argument which is not an array."""
        numbered = tree_unflatten(call.in_tree, list(range(len(call.leaves))))
        for i, (path, _) in enumerate(tree_leaves_with_path(numbered)):
            try:
                aval_of(call.leaves[i])
            except TypeError:
                value = call.leaves[i]
                raise ArgumentError(
                    f"{self._name}: argument {call.debug.argument(i)} is a "
                    f"{type(value).__name__} ({value!r}), not an array or a number "
                    f"(at {keystr(path)} of (args, kwargs)). Mark it static with static_argnums or "
                    "static_argnames, or register its class as a pytree"
                ) from None

    def _traced(self, call: _Call, avals: tuple[ShapedArray, ...]) -> TracedFunction:
        return trace_cached(
            self._fun,
            call.in_tree,
            avals,
            key=("jit", call.static),
            call=call.call,
            debug=call.debug,
            settle=True,
        )

    def _key(self, call: _Call, avals: tuple[ShapedArray, ...]) -> Hashable:
        if self._plain and call.positional:  # the key of the quick path in `__call__`
            return (config.dispatch_key, self._options, *avals)
        return (config.dispatch_key, self._options, call.in_tree, call.static, avals)

    def _run(self, call: _Call) -> Any:
        avals = self._avals(call)
        program = self._entries.lookup(self._key(call, avals), partial(self._compile, call))
        return program.run([x if type(x) is ConcreteArray else as_concrete(x) for x in call.leaves])

    def _compile(self, call: _Call) -> _Program:
        start = time.perf_counter()
        traced = self._traced(call, self._avals(call))
        middle = time.perf_counter()
        executable = backends.current().compile(traced.jaxpr, donated=call.donated)
        _log.debug(
            "%s: traced in %.3f s, lowered and compiled in %.3f s",
            self._name,
            middle - start,
            time.perf_counter() - middle,
        )
        return _Program(executable, traced.out_tree)

    def _under_trace(self, call: _Call) -> Any:
        jaxpr, out_tree = self._traced(call, self._avals(call))
        trace = context.trace
        if not self._inline:
            outs = jit_p.bind(*jaxpr.consts, *call.leaves, jaxpr=jaxpr.lifted(), name=self._name)
        elif type(trace) is JaxprTrace:
            outs = trace.splice(jaxpr, call.leaves)
        else:
            outs = eval_jaxpr(jaxpr, *call.leaves)
        return tree_unflatten(out_tree, outs)

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced:
        """Stage the function for these arguments; a `ShapeDtypeStruct` may stand for an array."""
        call = self._take_apart(args, kwargs)
        traced = self._traced(call, self._avals(call, type_of))
        return Traced(traced.jaxpr, call.in_tree, traced.out_tree, call.donated, self._name)

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """Stage and lower the function: `lower(...).as_text()`, `lower(...).compile()`."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Types of the results, as a tree of `ShapeDtypeStruct`."""
        traced = self.trace(*args, **kwargs)
        return tree_unflatten(traced.out_tree, [struct_of(a) for a in traced.jaxpr.out_avals])

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> MissExplanation:
        """Say whether these arguments need a new program, and how they differ from the nearest."""
        call = self._take_apart(args, kwargs)
        return self.cache.explain(self._fun, self._key(call, self._avals(call)))

    def clear_cache(self) -> None:
        """Drop the programs of this function."""
        self.cache.clear(self._fun)


@overload
def jit(
    fun: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    inline: bool = False,
    cache: CompiledFunctionCache | None = None,
) -> CompiledFunction[P, R]: ...


@overload
def jit(
    fun: None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    inline: bool = False,
    cache: CompiledFunctionCache | None = None,
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...


def jit(
    fun: Any = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    inline: bool = False,
    cache: CompiledFunctionCache | None = None,
) -> Any:
    """Compile a function for the types of its arguments.

    Args:
        fun: Function of trees of arrays. Left out, `jit` returns a decorator.
        static_argnums: Positions of arguments that are Python values: hashable, part of the key of
            the program.
        static_argnames: Names of such arguments. Positions and names complete each other.
        donate_argnums: Positions of arguments whose memory the results may take over; they cannot
            be used afterwards.
        donate_argnames: Names of such arguments.
        inline: Inside another compiled function, put the equations of this one into it instead of
            calling it. A call is compiled once however often it is made, which keeps compile time
            short; inlined equations can be fused with those around them.
        cache: Where compiled programs are kept; a cache shared by all functions by default.

    Returns:
        A `CompiledFunction`.

    Raises:
        StaticArgumentError: Positions or names do not fit the function.

    Example:
        >>> from axonym_core import lax
        >>> square = jit(lambda x: lax.mul(x, x))
        >>> float(square(3.0))
        9.0
    """

    def decorate(function: Callable[..., Any]) -> CompiledFunction[Any, Any]:
        return CompiledFunction(
            function,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            inline=inline,
            cache=cache,
        )

    return decorate if fun is None else decorate(fun)


_LIBRARY_CACHE = CompiledFunctionCache(4096)


@overload
def library_jit(
    fun: Callable[P, R], *, static_argnums: Any = None, static_argnames: Any = None
) -> CompiledFunction[P, R]: ...


@overload
def library_jit(
    fun: None = None, *, static_argnums: Any = None, static_argnames: Any = None
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...


def library_jit(fun: Any = None, *, static_argnums: Any = None, static_argnames: Any = None) -> Any:
    """`jit` for functions of libraries: inlined into their callers, with one cache for all.

    Args:
        fun: The function; left out, a decorator is returned.
        static_argnums: As for `jit`.
        static_argnames: As for `jit`.
    """

    def decorate(function: Callable[..., Any]) -> CompiledFunction[Any, Any]:
        return CompiledFunction(
            function,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            inline=True,
            cache=_LIBRARY_CACHE,
        )

    return decorate if fun is None else decorate(fun)


def library_cache() -> CompiledFunctionCache:
    """The cache that the library's own functions share."""
    return _LIBRARY_CACHE
