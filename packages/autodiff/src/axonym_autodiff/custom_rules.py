"""Functions with derivative rules of their own: `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from axonym_core import dtypes, lax
from axonym_core.avals import aval_of
from axonym_core.errors import TreeStructureError
from axonym_core.primitives.calls import custom_jvp_call_p, custom_vjp_call_p
from axonym_core.tree_util import PyTreeDef, tree_flatten, tree_structure, tree_unflatten

from .errors import CustomRuleError
from .zeros import Zero, add_tangents

P = ParamSpec("P")
R = TypeVar("R")


class _Call:
    """One call of such a function: its arguments taken apart."""

    __slots__ = ("fixed", "in_tree", "leaves", "name", "nondiff", "out_tree", "total")

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.name = getattr(fun, "__name__", "function")
        args = _by_position(fun, args, kwargs)
        self.total = len(args)
        self.nondiff = tuple([i % self.total for i in nondiff_argnums])
        self.fixed = {i: args[i] for i in self.nondiff}
        moving = tuple([a for i, a in enumerate(args) if i not in self.fixed])
        self.leaves, self.in_tree = tree_flatten(moving)
        self.out_tree: PyTreeDef | None = None

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """All arguments, with these leaves in the differentiable ones."""
        moving = iter(tree_unflatten(self.in_tree, leaves))
        return [self.fixed[i] if i in self.fixed else next(moving) for i in range(self.total)]

    def fixed_arguments(self) -> list[Any]:
        """The arguments that are not differentiated, in order."""
        return [self.fixed[i] for i in sorted(self.fixed)]

    def flatten_result(self, out: Any) -> list[Any]:
        """Leaves of a result, remembering its structure."""
        leaves, self.out_tree = tree_flatten(out)
        return leaves

    def result(self, leaves: Sequence[Any]) -> Any:
        """The result with these leaves."""
        assert self.out_tree is not None
        return tree_unflatten(self.out_tree, leaves)


def _by_position(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Arguments with keywords and defaults put in their positions, as the rules expect them."""
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        if kwargs:
            raise CustomRuleError(
                "a function with custom derivatives and no inspectable signature takes positional "
                f"arguments only, got keywords {sorted(kwargs)}"
            ) from None
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise CustomRuleError(
            f"{getattr(fun, '__name__', 'function')}: keyword-only arguments "
            f"{sorted(bound.kwargs)} have no place in a custom derivative rule; make them "
            "positional"
        )
    return bound.args


class custom_jvp(Generic[P, R]):  # used as a decorator, as the field knows it
    """A function with its own JVP rule.

    Args:
        fun: The function, of trees of arrays.
        nondiff_argnums: Positions of arguments that are Python values, passed to the rule first.

    Example:
        >>> from axonym_core import lax
        >>> from axonym_autodiff import grad
        >>> @custom_jvp
        ... def f(x):
        ...     return lax.sin(x)
        >>> @f.defjvp
        ... def f_jvp(primals, tangents):
        ...     (x,), (t,) = primals, tangents
        ...     return f(x), lax.mul(t, 10.0)
        >>> float(grad(f)(1.0))
        10.0
    """

    def __init__(self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = ()) -> None:
        update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule: `jvp(*nondiff, primals, tangents) -> (out, tangent_out)`.

        Args:
            jvp: The rule; primals and tangents are tuples with one entry per remaining argument.
        """
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set one rule per argument: `jvp(t, out, *primals)`; None where there is no derivative."""

        def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            out = self(*primals)  # type: ignore[call-arg]  # flat arguments
            tangent: Any = Zero(aval_of(out).to_tangent())
            for t, jvp in zip(tangents, jvps, strict=True):
                if jvp is not None:
                    tangent = add_tangents(tangent, jvp(t, out, *primals))
            if type(tangent) is Zero:
                tangent = lax.full(tangent.aval.shape, 0, tangent.aval.dtype)
            return out, tangent

        self.jvp = rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; under differentiation its rule is used."""
        if self.jvp is None:
            raise CustomRuleError(
                f"custom_jvp function {self.__name__} has no rule; define one with defjvp"  # type: ignore[attr-defined]  # set by update_wrapper
            )
        call = _Call(self.fun, self.nondiff_argnums, args, kwargs)
        rule = self.jvp

        def function(*leaves: Any) -> list[Any]:
            return call.flatten_result(self.fun(*call.arguments(leaves)))  # type: ignore[call-arg]  # flat arguments

        function.__name__ = call.name

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            result = rule(
                *call.fixed_arguments(),
                tuple(tree_unflatten(call.in_tree, primals)),
                tuple(tree_unflatten(call.in_tree, tangents)),
            )
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise CustomRuleError(
                    f"custom_jvp: the rule of {call.name} must return a pair (out, tangent_out), "
                    f"it returned {type(result).__name__}"
                )
            outs = call.flatten_result(result[0])
            t_leaves, t_tree = tree_flatten(result[1])
            if t_tree != call.out_tree:
                raise TreeStructureError(
                    f"custom_jvp: the rule of {call.name} returned a tangent of structure {t_tree} "
                    f"for a result of structure {call.out_tree}"
                )
            return outs, [
                _tangent_out(t, o, call.name) for t, o in zip(t_leaves, outs, strict=True)
            ]

        outs = custom_jvp_call_p.bind(*call.leaves, call=function, jvp=jvp, num_consts=0)
        return call.result(outs)  # type: ignore[no-any-return]  # Any by nature


def _tangent_out(t: Any, out: Any, name: str) -> Any:
    """Tangent that a rule gave for a result, checked."""
    wanted = aval_of(out).to_tangent()
    got = aval_of(t)
    if wanted.dtype == dtypes.float0 or got.dtype == dtypes.float0:
        return Zero(wanted)
    if got.shape != wanted.shape:
        raise CustomRuleError(
            f"custom_jvp: the rule of {name} returned a tangent of type {got} for a result of type "
            f"{aval_of(out)}; shapes must agree"
        )
    return t if got.dtype == wanted.dtype else lax.convert_element_type(t, wanted.dtype)


class custom_vjp(Generic[P, R]):  # used as a decorator, as the field knows it
    """A function with its own reverse-mode rule.

    The backward rule speaks for one index of each named axis: over axes in `reduce_axes`, the
    cotangents that it returns for an argument which all indices share are summed.

    Args:
        fun: The function, of trees of arrays.
        nondiff_argnums: Positions of arguments that are Python values; `bwd` gets them first.

    Example:
        >>> from axonym_core import lax
        >>> from axonym_autodiff import grad
        >>> @custom_vjp
        ... def f(x):
        ...     return lax.sin(x)
        >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (lax.mul(ct, 10.0),))
        >>> float(grad(f)(1.0))
        10.0
    """

    def __init__(self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = ()) -> None:
        update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the rule.

        Args:
            fwd: `fwd(*args) -> (out, residuals)`, with the arguments of the function.
            bwd: `bwd(*nondiff, residuals, ct) -> cotangents`, a tuple with one entry per remaining
                argument; None for an argument without derivative.
        """
        self.fwd = fwd
        self.bwd = bwd

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; under differentiation its rule is used."""
        if self.fwd is None or self.bwd is None:
            raise CustomRuleError(
                f"custom_vjp function {self.__name__} has no rule; define one with defvjp"  # type: ignore[attr-defined]  # set by update_wrapper
            )
        call = _Call(self.fun, self.nondiff_argnums, args, kwargs)
        forward, backward = self.fwd, self.bwd
        residual_tree: PyTreeDef | None = None

        def function(*leaves: Any) -> list[Any]:
            return call.flatten_result(self.fun(*call.arguments(leaves)))  # type: ignore[call-arg]  # flat arguments

        function.__name__ = call.name

        def fwd(*leaves: Any) -> tuple[list[Any], list[Any]]:
            nonlocal residual_tree
            result = forward(*call.arguments(leaves))
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise CustomRuleError(
                    f"custom_vjp: the forward rule of {call.name} must return a pair (out, "
                    f"residuals), it returned {type(result).__name__}"
                )
            residuals, residual_tree = tree_flatten(result[1])
            return call.flatten_result(result[0]), residuals

        def bwd(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            assert residual_tree is not None
            result = backward(
                *call.fixed_arguments(),
                tree_unflatten(residual_tree, residuals),
                call.result(cts),
            )
            return _argument_cotangents(result, call)

        outs = custom_vjp_call_p.bind(*call.leaves, call=function, fwd=fwd, bwd=bwd, num_consts=0)
        return call.result(outs)  # type: ignore[no-any-return]  # Any by nature


def _argument_cotangents(result: Any, call: _Call) -> list[Any]:
    """Leaves of the cotangents that a backward rule returned; None where there is none."""
    arguments = call.in_tree.children()
    if not isinstance(result, tuple | list) or len(result) != len(arguments):
        raise CustomRuleError(
            f"custom_vjp: the backward rule of {call.name} must return a tuple of "
            f"{len(arguments)} cotangents, one per differentiable argument; it returned "
            + (f"{len(result)} of them" if isinstance(result, tuple | list) else repr(result))
        )
    found: list[Any] = []
    for i, (ct, tree) in enumerate(zip(result, arguments, strict=True)):
        if ct is None:
            found.extend([None] * tree.num_leaves)
            continue
        leaves, structure = tree_flatten(ct, is_leaf=lambda x: x is None)
        if (
            len(leaves) != tree.num_leaves
            or tree_structure(tree_unflatten(structure, [0] * len(leaves))) != tree
        ):
            raise TreeStructureError(
                f"custom_vjp: the backward rule of {call.name} returned a cotangent of structure "
                f"{structure} for argument {i}, which has the structure {tree}"
            )
        found.extend(leaves)
    return found
