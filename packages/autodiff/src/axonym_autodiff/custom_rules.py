"""Functions with derivative rules of their own: `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from axonym_core.errors import ArgumentTypeError
from axonym_core.extend import Zero, add_tangents, instantiate
from axonym_core.primitives.calls import custom_jvp_call_p, custom_vjp_call_p
from axonym_core.trees import PyTreeDef, tree_flatten, tree_unflatten
from axonym_core.types import aval_of

from .closures import HasRules
from .custom_calls import CustomCall, Parameters
from .errors import CustomRuleError
from .zero_trace import with_zeros

P = ParamSpec("P")
R = TypeVar("R")


class CustomFunction(HasRules, Generic[P, R]):
    """What `custom_jvp` and `custom_vjp` have in common."""

    def __init__(self, fun: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> None:
        if not callable(fun):
            raise ArgumentTypeError(
                f"{type(self).__name__}: fun must be a function, got {type(fun).__name__}"
            )
        update_wrapper(self, fun)  # type: ignore[arg-type]  # the classes below can be called
        self.fun = fun
        self.nondiff_argnums = (
            (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        )
        self._parameters: Parameters | None = None

    def _rules(self) -> tuple[Callable[..., Any] | None, ...]:
        return ()

    def functions(self) -> Sequence[Any]:
        """The function and its rules."""
        return (self.fun, *self._rules())

    def _call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], setter: str
    ) -> tuple[CustomCall, list[Any]]:
        """Take a call apart: what it is, and its operands."""
        if self._parameters is None:
            self._parameters = Parameters(self.fun)
        kind, rules = type(self).__name__, [r for r in self._rules() if r is not None]
        if len(rules) != len(self._rules()):
            raise CustomRuleError(
                f"{kind} function {self._parameters.name} has no rule; define one with {setter}"
            )
        args = self._parameters.by_position(args, kwargs)
        call = CustomCall(kind, self.fun, rules, self._parameters, self.nondiff_argnums, args)
        return call, call.operands(args)


class custom_jvp(CustomFunction[P, R]):  # used as a decorator, as the field knows it
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

    def __init__(self, fun: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)
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
            return out, instantiate(tangent)

        self.jvp = rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; under differentiation its rule is used."""
        call, operands = self._call(args, kwargs, "defjvp")
        (rule,) = call.rules

        def jvp(
            consts: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any]
        ) -> tuple[list[Any], list[Any]]:
            result = call.run(
                consts,
                rule,
                *call.fixed_arguments(),
                tuple(tree_unflatten(call.in_tree, primals)),
                tuple(tree_unflatten(call.in_tree, tangents)),
            )
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise CustomRuleError(
                    f"custom_jvp: the rule of {call.name} must return a pair (out, tangent_out), "
                    f"it returned {type(result).__name__}"
                )
            outs = call.outputs(result[0], "the rule")
            return outs, call.tangents(result[1], outs)

        outs = custom_jvp_call_p.bind(
            *operands, call=call.function, jvp=jvp, num_consts=len(call.captured)
        )
        return call.result(outs)  # type: ignore[no-any-return]  # Any by nature

    def _rules(self) -> tuple[Callable[..., Any] | None, ...]:
        return (self.jvp,)


class custom_vjp(CustomFunction[P, R]):  # used as a decorator, as the field knows it
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

    def __init__(self, fun: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)
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
        call, operands = self._call(args, kwargs, "defvjp")
        forward, backward = call.rules
        residual_tree: PyTreeDef | None = None

        def fwd(consts: Sequence[Any], leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            nonlocal residual_tree
            result = call.run(consts, forward, *call.arguments(leaves))
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise CustomRuleError(
                    f"custom_vjp: the forward rule of {call.name} must return a pair (out, "
                    f"residuals), it returned {type(result).__name__}"
                )
            residuals, residual_tree = tree_flatten(result[1])
            return call.outputs(result[0], "the forward rule"), [*consts, *residuals]

        def bwd(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            assert residual_tree is not None
            count = len(residuals) - residual_tree.num_leaves
            saved = tree_unflatten(residual_tree, residuals[count:])

            def of(*cts: Any) -> list[Any]:
                given = (*call.fixed_arguments(), saved, call.result(cts))
                return call.cotangents(call.run(residuals[:count], backward, *given))

            return with_zeros(of, cts)

        outs = custom_vjp_call_p.bind(
            *operands, call=call.function, fwd=fwd, bwd=bwd, num_consts=len(call.captured)
        )
        return call.result(outs)  # type: ignore[no-any-return]  # Any by nature

    def _rules(self) -> tuple[Callable[..., Any] | None, ...]:
        return (self.fwd, self.bwd)
