"""Calls of functions with derivative rules: arguments taken apart, results of rules checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.errors import TracerError, TreeStructureError
from axonym_core.extend import Zero
from axonym_core.operators import join_types, strong
from axonym_core.programs import debug_info
from axonym_core.settings import context
from axonym_core.tracing import eval_trace, trace_cached, trace_tree
from axonym_core.trees import (
    PyTreeDef,
    describe_difference,
    flatten_axes,
    keystr,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
    treedef_paths,
    treedef_tuple,
)
from axonym_core.types import ShapedArray, aval_of, dtypes, python_number

from .closures import closed_over, run_with
from .errors import CustomRuleError


class Parameters:
    """How a function takes its arguments, found out once."""

    __slots__ = ("_plain", "_signature", "name")

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.name = debug_info(fun).name
        try:
            self._signature: inspect.Signature | None = inspect.signature(fun)
        except (TypeError, ValueError):
            self._signature = None
        parameters = () if self._signature is None else self._signature.parameters.values()
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        # The number of arguments that need no further thought; -1 where all calls do.
        self._plain = -1
        if all(p.kind in positional for p in parameters):
            self._plain = len(parameters)

    def by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments with keywords and defaults put in their positions, as the rules expect them."""
        if not kwargs and len(args) == self._plain:
            return args
        if self._signature is None:
            if kwargs:
                raise CustomRuleError(
                    f"{self.name}: a function with custom derivatives and no inspectable signature "
                    f"takes positional arguments only, got keywords {sorted(kwargs)}"
                )
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise CustomRuleError(
                f"{self.name}: keyword-only arguments {sorted(bound.kwargs)} have no place in a "
                "custom derivative rule; make them positional"
            )
        return bound.args

    def argument(self, position: int) -> str:
        """Name of an argument, for messages."""
        names = [] if self._signature is None else list(self._signature.parameters)
        return f"argument {position}" + (f" ({names[position]})" if position < len(names) else "")


class CustomCall:
    """One call of such a function. Holds the types of its arguments, not the arguments."""

    __slots__ = (
        *("captured", "fixed", "fun", "in_avals", "in_tree", "kind"),
        *("moving", "out_avals", "out_tree", "parameters", "rules", "total"),
    )

    def __init__(
        self,
        kind: str,
        fun: Callable[..., Any],
        rules: Sequence[Callable[..., Any]],
        parameters: Parameters,
        nondiff_argnums: Sequence[int],
        args: tuple[Any, ...],
    ) -> None:
        self.kind = kind
        self.fun = fun
        self.rules = rules
        self.parameters = parameters
        self.total = len(args)
        nondiff = [i % self.total for i in nondiff_argnums]
        self.fixed = {i: args[i] for i in nondiff}
        self.moving = [i for i in range(self.total) if i not in self.fixed]
        leaves, self.in_tree = tree_flatten(tuple([args[i] for i in self.moving]))
        leaves = [python_number(x) for x in leaves]
        self.in_avals = tuple([aval_of(x) for x in leaves])
        self.out_tree: PyTreeDef | None = None
        self.out_avals: list[ShapedArray] | None = None
        # Where no transformation is open there is nothing to close over.
        self.captured = (
            [] if context.trace is eval_trace else closed_over(fun, *rules, *self.fixed.values())
        )

    @property
    def name(self) -> str:
        """Name of the function, for messages."""
        return self.parameters.name

    def operands(self, args: tuple[Any, ...]) -> list[Any]:
        """Operands of the call: what the functions close over, then the leaves of arguments."""
        leaves = tree_leaves(tuple([args[i] for i in self.moving]))
        return [*self.captured, *[python_number(x) for x in leaves]]

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """All arguments, with these leaves in the differentiable ones."""
        moving = iter(tree_unflatten(self.in_tree, leaves))
        return [self.fixed[i] if i in self.fixed else next(moving) for i in range(self.total)]

    def fixed_arguments(self) -> list[Any]:
        """The arguments that are not differentiated, in order."""
        return [self.fixed[i] for i in sorted(self.fixed)]

    def run(self, consts: Sequence[Any], fun: Callable[..., Any], *args: Any) -> Any:
        """Run the function or a rule, with operands in the place of what it closes over.

        Args:
            consts: Leading operands of the call; the last of them stand for captured values.
            fun: The function or rule.
            *args: Its arguments.
        """
        count = len(self.captured)
        return run_with(self.captured, consts[len(consts) - count :], fun, *args)

    def function(self, *operands: Any) -> list[Any]:
        """The function on flat operands."""
        count = len(self.captured)
        out = self.run(operands[:count], self.fun, *self.arguments(operands[count:]))
        leaves, self.out_tree = tree_flatten(out)
        leaves = [python_number(x) for x in leaves]
        self.out_avals = [aval_of(x) for x in leaves]
        return leaves

    def result(self, leaves: Sequence[Any]) -> Any:
        """The result with these leaves."""
        assert self.out_tree is not None
        return tree_unflatten(self.out_tree, leaves)

    def _find_types(self) -> None:
        """Find out what the function returns, where it has not been run."""
        if self.out_avals is not None:
            return
        try:
            in_tree = treedef_tuple([self.in_tree, tree_structure({})])
            if self.fixed:

                def fun(*moving: Any) -> Any:
                    return self.fun(*self.arguments(tree_leaves(moving)))

                traced = trace_tree(fun, in_tree, self.in_avals)
            else:
                traced = trace_cached(self.fun, in_tree, self.in_avals, key="custom")
        except TracerError:
            return  # it decides by values and says nothing of types before it is run
        self.out_tree, self.out_avals = traced.out_tree, list(traced.jaxpr.out_avals)

    def outputs(self, result: Any, rule: str) -> list[Any]:
        """Leaves of a result that a rule gave for the function's, checked against that."""
        leaves, tree = tree_flatten(result)
        self._find_types()
        if self.out_avals is None:
            self.out_tree = tree
            return leaves
        assert self.out_tree is not None
        if tree != self.out_tree:
            difference = describe_difference(
                self.out_tree, tree, names=("the function's", "the rule's")
            )
            raise TreeStructureError(
                f"{self.kind}: {rule} of {self.name} returned a result of structure {tree} where "
                f"the function returns {self.out_tree}: {difference}"
            )
        return [
            self._fitting(x, aval, f"{rule} of {self.name} returned a result", i, tree)
            for i, (x, aval) in enumerate(zip(leaves, self.out_avals, strict=True))
        ]

    def tangents(self, result: Any, outs: Sequence[Any]) -> list[Any]:
        """Leaves of the tangent that a rule gave for checked results."""
        leaves, tree = tree_flatten(result)
        if tree != self.out_tree:
            raise TreeStructureError(
                f"{self.kind}: the rule of {self.name} returned a tangent of structure {tree} "
                f"for a result of structure {self.out_tree}"
            )
        found = []
        for i, (t, out) in enumerate(zip(leaves, outs, strict=True)):
            wanted = aval_of(out).to_tangent()
            what = f"the rule of {self.name} returned a tangent"
            if wanted.dtype == dtypes.float0 or aval_of(t).dtype == dtypes.float0:
                t = Zero(wanted)
            else:
                t = strong(self._fitting(t, wanted, what, i, tree))
            found.append(t)
        return found

    def cotangents(self, result: Any) -> list[Any]:
        """Leaves of the cotangents that a backward rule returned; `Zero` where there is none."""
        arguments = self.in_tree.children()
        rule = f"the backward rule of {self.name}"
        if not isinstance(result, tuple | list) or len(result) != len(arguments):
            raise CustomRuleError(
                f"custom_vjp: {rule} must return a tuple of {len(arguments)} cotangents, one per "
                "differentiable argument; it returned "
                + (f"{len(result)} of them" if isinstance(result, tuple | list) else repr(result))
            )
        found: list[Any] = []
        avals = iter(self.in_avals)
        for position, ct, tree in zip(self.moving, result, arguments, strict=True):
            argument = self.parameters.argument(position)
            what = f"{rule} returned a cotangent for {argument}"
            leaves = flatten_axes(
                f"custom_vjp: the cotangent that {rule} returned for {argument}",
                tree,
                ct,
                exact=True,
            )
            for i, leaf in enumerate(leaves):
                wanted = next(avals).to_tangent()
                if leaf is None or dtypes.float0 in (wanted.dtype, aval_of(leaf).dtype):
                    found.append(Zero(wanted))
                else:
                    found.append(strong(self._fitting(leaf, wanted, what, i, tree)))
        return found

    def _fitting(self, x: Any, wanted: ShapedArray, what: str, index: int, tree: PyTreeDef) -> Any:
        """A value that a rule gave, of the type that it must have; weak types give way.

        Raises:
            CustomRuleError: It has another shape or dtype.
        """
        x = python_number(x)
        got = aval_of(x)
        if got.shape == wanted.shape:
            if got.dtype == wanted.dtype and got.weak_type <= wanted.weak_type:
                return x
            dtype, _ = join_types(got, wanted)
            if got.weak_type and dtype == wanted.dtype:
                return lax.convert_element_type(x, dtype, got.is_number and wanted.is_number)
            if wanted.weak_type:
                return lax.convert_element_type(x, wanted.dtype, wanted.is_number)
        place = "" if tree.is_leaf() else f" at {keystr(treedef_paths(tree)[index])}"
        mend = (
            "shapes must agree"
            if got.shape != wanted.shape
            else f"convert it with .astype({wanted.dtype.name!r})"
        )
        raise CustomRuleError(
            f"{self.kind}: {what}{place} of type {got}, where {wanted} belongs; {mend}"
        )
