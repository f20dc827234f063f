"""Forward mode: `jvp`, and `linearize`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import ArgumentTypeError, ShapeError, TreeStructureError
from axonym_core.extend import Zero, instantiate, returned_tangent
from axonym_core.operators import returned, strong
from axonym_core.programs import JaxprEqn, Var
from axonym_core.settings import context
from axonym_core.tracing import run_and_end
from axonym_core.trees import register_pytree_node_class, tree_flatten, tree_unflatten
from axonym_core.types import (
    NamedEntries,
    ShapedArray,
    aval_of,
    dtypes,
    join_all_named,
    join_named,
    python_number,
)

from .arguments import function_name, leaf_path
from .errors import NotDifferentiableError
from .further_axes import can_run, run_equation
from .jvp_trace import JvpTrace
from .linear_transpose import transpose_flat
from .programs import runnable_params
from .recorded_maps import RecordedMap
from .rule_tables import Reading
from .tape import LinearTracer, TapeTrace, backward_pass, widen

Apply = Callable[[JaxprEqn, Sequence[Any]], Any]


def check_tangents(
    primals: Any, tangents: Any, name: str, what: str
) -> tuple[list[Any], list[Any], Any]:
    """Flatten primals and tangents and check that they belong together.

    Raises:
        TypeError: They are no tuples or lists.
        TreeStructureError: They differ in structure.
        ShapeError: A tangent has another shape than its primal.
        NotDifferentiableError: A tangent has another dtype than its primal's tangents.
    """
    for argument, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple | list):
            raise ArgumentTypeError(
                f"{what}: {argument} must be a tuple with one entry per argument of {name}, got "
                f"{type(value).__name__}; write {what}(f, (x,), (t,))"
            )
    leaves, tree = tree_flatten(tuple(primals))
    leaves = [python_number(x) for x in leaves]
    t_leaves, t_tree = tree_flatten(tuple(tangents))
    if tree != t_tree:
        raise TreeStructureError(
            f"{what}: primals and tangents of {name} differ in structure: {tree} and {t_tree}; "
            "give one tangent per primal, in the same containers"
        )
    checked: list[Any] = []
    for i, (x, t) in enumerate(zip(leaves, t_leaves, strict=True)):
        aval = aval_of(x).to_tangent()
        got = aval_of(python_number(t))
        where = leaf_path(tree, i, "tangents")
        if got.shape != aval.shape:
            raise ShapeError(f"{what}: {where} has shape {got.shape}, its primal {aval.shape}")
        if aval.dtype == dtypes.float0:
            if got.dtype != dtypes.float0:
                raise NotDifferentiableError(
                    f"{what}: the primal of {where} has dtype {aval_of(x).dtype.name}, whose "
                    f"tangents have dtype float0; got {got.dtype.name}. Close over the integer "
                    "instead of passing it, or pass numpy.zeros(shape, axonym_core.dtypes.float0)"
                )
            checked.append(Zero(aval))
        elif got.dtype != aval.dtype:
            if not (got.weak_type or aval.weak_type):
                raise NotDifferentiableError(
                    f"{what}: {where} has dtype {got.dtype.name}, its primal {aval.dtype.name}; "
                    f"convert it with .astype({aval.dtype.name!r})"
                )
            checked.append(lax.convert_element_type(t, aval.dtype))
        else:
            checked.append(strong(t))
    return leaves, checked, tree


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """Value of a function and its derivative in a direction (Jacobian-vector product).

    Args:
        fun: Function of trees of arrays.
        primals: Tuple of its arguments.
        tangents: Tuple of directions, of the same structure, shapes and dtypes (dtype `float0` for
            integer arguments).
        has_aux: Whether `fun` returns a pair of which the second is not differentiated.

    Returns:
        `(value, tangent)`; with `has_aux`, `(value, tangent, aux)`.

    Raises:
        TypeError: Primals or tangents are no tuples.
        TreeStructureError: They differ in structure.
        ShapeError: Shapes differ.
        NotDifferentiableError: Dtypes differ, or an operation has no derivative.

    Example:
        >>> from axonym_core import lax
        >>> y, t = jvp(lambda x: lax.mul(x, x), (3.0,), (1.0,))
        >>> float(y), float(t)
        (9.0, 6.0)
    """
    name = function_name(fun)
    leaves, t_leaves, tree = check_tangents(primals, tangents, name, "jvp")
    parent = context.trace
    trace = JvpTrace(parent)
    trace.origin = f"jvp({name})"
    args = tree_unflatten(tree, [trace.lift(x, t) for x, t in zip(leaves, t_leaves, strict=True)])
    out = run_and_end((trace,), fun, *args)
    aux: Any = None
    if has_aux:
        out, aux = split_aux(out, name, "jvp")
    out_leaves, out_tree = tree_flatten(out)
    pairs = [trace.split(python_number(o)) for o in out_leaves]
    value = tree_unflatten(out_tree, [returned(p) for p, _ in pairs])
    tangent = tree_unflatten(
        out_tree, [returned_tangent(instantiate(t), aval_of(p)) for p, t in pairs]
    )
    if not has_aux:
        return value, tangent
    return value, tangent, primal_part(trace, aux)


def split_aux(out: Any, name: str, what: str) -> tuple[Any, Any]:
    """Take apart the result of a function with `has_aux`.

    Raises:
        TypeError: It is not a pair.
    """
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise ArgumentTypeError(
            f"{what} with has_aux=True: {name} must return a pair (output, aux), it returned "
            f"{'an array' if isinstance(out, Array) else type(out).__name__}"
        )
    return out[0], out[1]


def primal_part(trace: JvpTrace, tree: Any) -> Any:
    """A tree with the tracers of a trace replaced by their primals."""
    leaves, structure = tree_flatten(tree)
    return tree_unflatten(
        structure, [returned(trace.split(x)[0]) if isinstance(x, Array) else x for x in leaves]
    )


@register_pytree_node_class
class LinearMap(RecordedMap):
    """The derivative of a function at a point, as `linearize` returns it: `f_jvp(*tangents)`."""

    __slots__ = ("_in_avals", "_in_tree", "_out_avals", "_out_tree")

    def __init__(
        self,
        eqns: Sequence[JaxprEqn],
        inputs: Sequence[Var],
        in_tree: Any,
        in_avals: Sequence[ShapedArray],
        outputs: Sequence[Any],
        out_avals: Sequence[ShapedArray],
        out_tree: Any,
    ) -> None:
        super().__init__(eqns, inputs, outputs)
        self._in_tree = in_tree
        self._in_avals = in_avals
        self._out_avals = out_avals
        self._out_tree = out_tree

    def __call__(self, *tangents: Any) -> Any:
        """Apply the map to tangents of the arguments.

        Raises:
            TreeStructureError: Another structure than the arguments had.
            ShapeError: A tangent of another shape.
        """
        leaves, tree = tree_flatten(tangents)
        if tree != self._in_tree:
            raise TreeStructureError(
                f"linearize: the tangents have the structure {tree}, the arguments had "
                f"{self._in_tree}"
            )
        checked: list[Any] = []
        for i, (aval, t) in enumerate(zip(self._in_avals, leaves, strict=True)):
            if aval_of(t).shape != aval.shape:
                raise ShapeError(
                    f"linearize: {leaf_path(tree, i, 'tangents')} has shape {aval_of(t).shape}, "
                    f"the argument {aval.shape}"
                )
            if aval.dtype != dtypes.float0:
                t = lax.convert_element_type(t, aval.dtype)
            checked.append(widen(t, aval.named))
        further = join_all_named([aval_of(t) for t in checked])
        if any(aval_of(t).named != a.named for t, a in zip(checked, self._in_avals, strict=True)):
            outs = self._at_further_axes(checked, further)
        else:
            outs = self._forwards(checked, _bind_equation)
        outs = [returned_tangent(o, a) for o, a in zip(outs, self._out_avals, strict=True)]
        return tree_unflatten(self._out_tree, outs)

    def _forwards(self, tangents: Sequence[Any], apply: Apply) -> list[Any]:
        """Results for tangents; `apply` does what an equation says."""
        env: dict[Var, Any] = dict(zip(self._inputs, tangents, strict=True))
        for eqn in self._eqns:
            operands = [env[x] if type(x) is Var else x for x in eqn.invars]
            out = apply(eqn, operands)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
        return [env[o] if type(o) is Var else instantiate(o) for o in self._outputs]

    def _at_further_axes(self, tangents: Sequence[Any], further: NamedEntries) -> list[Any]:
        """Results for tangents that vary over axes that the arguments do not vary over.

        The programs inside were staged for the types of the arguments. Those of calls, loops and
        branches are run anew. Transposing stages any program anew, so where others are among them,
        the map is transposed twice.
        """
        if can_run(self._eqns):
            return self._forwards(tangents, run_equation)
        outputs = [o if type(o) is Var else None for o in self._outputs]

        def backwards(*cts: Any) -> list[Any]:
            found = backward_pass(self._eqns, self._inputs, outputs, cts, Reading())
            return [instantiate(c) for c in found]

        avals = [
            aval.update(named_shape=join_named(aval.named, further))
            for aval in [aval_of(o) for o in self._outputs]
        ]
        return [instantiate(o) for o in transpose_flat(backwards, avals, tangents)]


def _bind_equation(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
    return eqn.primitive.bind(*operands, **runnable_params(eqn))


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Value of a function and its derivative there, as a linear function of tangents.

    The primal part is computed once; the linear function may be applied many times.

    Args:
        fun: Function of trees of arrays.
        *primals: Its arguments.
        has_aux: Whether `fun` returns a pair of which the second is not differentiated.

    Returns:
        `(value, f_jvp)`; with `has_aux`, `(value, f_jvp, aux)`.

    Raises:
        NotDifferentiableError: An operation has no derivative.

    Example:
        >>> from axonym_core import lax
        >>> y, f_jvp = linearize(lambda x: lax.mul(x, x), 3.0)
        >>> float(f_jvp(1.0)), float(f_jvp(2.0))
        (6.0, 12.0)
    """
    parent = context.trace
    tape = TapeTrace(parent)
    trace = JvpTrace(parent, tape)
    trace.origin = tape.origin = f"linearize({function_name(fun)})"
    leaves, tree = tree_flatten(primals)
    leaves = [python_number(x) for x in leaves]
    avals = [aval_of(x).to_tangent().strip_weak_type() for x in leaves]
    inputs = [tape.new_input(a) for a in avals]
    args = [
        x if a.dtype == dtypes.float0 else trace.lift(x, t)
        for x, a, t in zip(leaves, avals, inputs, strict=True)
    ]
    out = run_and_end((tape, trace), fun, *tree_unflatten(tree, args))
    aux: Any = None
    if has_aux:
        out, aux = split_aux(out, function_name(fun), "linearize")
    out_leaves, out_tree = tree_flatten(out)
    pairs = [trace.split(python_number(o)) for o in out_leaves]
    value = tree_unflatten(out_tree, [returned(p) for p, _ in pairs])
    outputs = [t.variable if type(t) is LinearTracer else t for _, t in pairs]
    variables = [x.variable for x in inputs]
    out_avals = [aval_of(p) for p, _ in pairs]
    linear = LinearMap(tape.eqns, variables, tree, avals, outputs, out_avals, out_tree)
    return (value, linear, primal_part(trace, aux)) if has_aux else (value, linear)
