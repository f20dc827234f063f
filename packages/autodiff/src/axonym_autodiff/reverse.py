"""Reverse mode: `vjp`, `grad`, `value_and_grad`, `linear_transpose`.

All take `reduce_axes`: the named axes over which gradients are totals. Without it, each index of
a mapped axis has a gradient of its own (`docs/named_axes.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from axonym_core.errors import ArgumentTypeError
from axonym_core.extend import instantiate, returned_tangent
from axonym_core.operators import returned
from axonym_core.programs import JaxprEqn, Var
from axonym_core.settings import context
from axonym_core.tracing import run_and_end
from axonym_core.trees import PyTreeDef, register_pytree_node_class, tree_flatten, tree_unflatten
from axonym_core.types import (
    AxisName,
    ShapedArray,
    aval_of,
    dtypes,
    python_number,
    scalar_of,
    type_of,
)

from .arguments import (
    argument_path,
    check_cotangents,
    check_inputs,
    function_name,
    leaf_path,
    reading_of,
    selected,
)
from .errors import NotDifferentiableError
from .forward import primal_part, split_aux
from .jvp_trace import JvpTrace
from .recorded_maps import RecordedMap
from .rule_tables import Reading
from .tape import TapeTrace, backward_pass, variable

ReduceAxes = AxisName | Sequence[AxisName] | None


@register_pytree_node_class
class Pullback(RecordedMap):
    """The transposed derivative of a function at a point: `f_vjp(cotangents)`."""

    __slots__ = ("_in_avals", "_in_tree", "_out_tree", "_reading", "_what", "out_avals")

    def __init__(
        self,
        what: str,
        eqns: Sequence[JaxprEqn],
        inputs: Sequence[Var],
        in_avals: Sequence[ShapedArray],
        in_tree: PyTreeDef,
        outputs: Sequence[Var | None],
        out_avals: Sequence[ShapedArray],
        out_tree: PyTreeDef,
        reading: Reading,
    ) -> None:
        super().__init__(eqns, inputs, outputs)
        self._what = what
        self._in_avals = in_avals
        self._in_tree = in_tree
        self.out_avals = out_avals
        self._out_tree = out_tree
        self._reading = reading

    def __call__(self, ct: Any) -> Any:
        """Return the tuple of cotangents of the arguments for a cotangent of the result.

        Raises:
            TreeStructureError: The cotangent has another structure than the result.
            ShapeError: A leaf has another shape.
            AxisNameError: A leaf varies over an axis of `reduce_axes`, its result does not.
            NotDifferentiableError: A leaf has another dtype.
            NotLinearError: The function uses an operation that has no transpose.
        """
        cts = check_cotangents(
            ct, self._out_tree, self.out_avals, self._what, self._reading.collective
        )
        return tree_unflatten(self._in_tree, self.flat(cts))

    def flat(self, cts: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves of the arguments, for checked cotangents of the results."""
        found = backward_pass(self._eqns, self._inputs, self._outputs, cts, self._reading)
        return [
            returned_tangent(instantiate(c), aval)
            for c, aval in zip(found, self._in_avals, strict=True)
        ]


def _vjp(
    what: str,
    fun: Callable[..., Any],
    name: str,
    primals: tuple[Any, ...],
    reading: Reading,
    has_aux: bool,
) -> tuple[list[Any], PyTreeDef, Pullback, Any]:
    parent = context.trace
    tape = TapeTrace(parent)
    trace = JvpTrace(parent, tape)
    trace.origin = tape.origin = f"{what}({name})"
    leaves, in_tree = tree_flatten(primals)
    leaves = [python_number(x) for x in leaves]
    inputs = []
    args = []
    for x in leaves:
        aval = aval_of(x).to_tangent().strip_weak_type()
        t = tape.new_input(aval)
        inputs.append(t.variable)
        args.append(x if aval.dtype == dtypes.float0 else trace.lift(x, t))
    out = run_and_end((tape, trace), fun, *tree_unflatten(in_tree, args))
    aux: Any = None
    if has_aux:
        out, aux = split_aux(out, name, what)
        aux = primal_part(trace, aux)
    out_leaves, out_tree = tree_flatten(out)
    values: list[Any] = []
    outputs: list[Var | None] = []
    for o in out_leaves:
        p, t = trace.split(python_number(o))
        values.append(p)
        outputs.append(variable(t))
    pullback = Pullback(
        what,
        tape.eqns,
        inputs,
        [aval_of(x) for x in leaves],
        in_tree,
        outputs,
        [aval_of(v) for v in values],
        out_tree,
        reading,
    )
    return [returned(v) for v in values], out_tree, pullback, aux


def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: ReduceAxes = None,
) -> Any:
    """Value of a function and the map of cotangents of its result to those of its arguments.

    Args:
        fun: Function of trees of arrays.
        *primals: Its arguments. Integers are allowed; their cotangents have dtype `float0`.
        has_aux: Whether `fun` returns a pair of which the second is not differentiated.
        reduce_axes: Named axes to read collectively: a value that does not vary over one of them
            is one value, and its cotangent the sum over the axis. `None`: the axes whose indices
            are devices (no mapping of this version makes such); `()`: none.

    Returns:
        `(value, f_vjp)`, where `f_vjp(ct)` is the tuple of cotangents of the arguments; with
        `has_aux`, `(value, f_vjp, aux)`.

    Raises:
        AxisNameError: `reduce_axes` names an axis that is not in scope.

    Example:
        >>> from axonym_core import lax
        >>> y, f_vjp = vjp(lambda a, b: lax.mul(a, b), 3.0, 4.0)
        >>> [float(c) for c in f_vjp(1.0)]
        [4.0, 3.0]
    """
    values, out_tree, pullback, aux = _vjp(
        "vjp", fun, function_name(fun), primals, reading_of(reduce_axes), has_aux
    )
    value = tree_unflatten(out_tree, values)
    return (value, pullback, aux) if has_aux else (value, pullback)


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: ReduceAxes = None,
) -> Callable[..., Any]:
    """Return a function that computes the value of `fun` and its gradient.

    Args:
        fun: Function with a scalar result.
        argnums: Which positional arguments to differentiate with respect to: a position, or
            several.
        has_aux: Whether `fun` returns a pair of which the second is not differentiated.
        holomorphic: Whether `fun` is a holomorphic function of complex arguments.
        allow_int: Whether integer arguments are allowed (their gradient has dtype `float0`).
        reduce_axes: Named axes over which the gradient is the total: for an argument that does not
            vary over the axis, the gradient of the sum over the axis, which does not vary either.
            Without it each index of the axis has a gradient of its own. `None`: the axes whose
            indices are devices (no mapping of this version makes such); `()`: none.

    Returns:
        A function of the arguments of `fun` that returns `(value, gradient)`, where the gradient
        has the structure of the argument (a tuple of them for several `argnums`) and `value` is
        `(value, aux)` with `has_aux`.

    Raises:
        NotDifferentiableError: The result is not a scalar or not real, an argument is an integer.
        AxisNameError: `reduce_axes` names an axis that is not in scope.

    Example:
        >>> from axonym_core import lax
        >>> value, gradient = value_and_grad(lambda x: lax.mul(x, x))(3.0)
        >>> float(value), float(gradient)
        (9.0, 6.0)
    """
    return _grad("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: ReduceAxes = None,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `fun`.

    Args:
        fun: Function with a scalar result.
        argnums: Which positional arguments to differentiate with respect to: a position, or
            several.
        has_aux: Whether `fun` returns a pair of which the second is not differentiated.
        holomorphic: Whether `fun` is a holomorphic function of complex arguments.
        allow_int: Whether integer arguments are allowed (their gradient has dtype `float0`).
        reduce_axes: Named axes over which the gradient is the total; see `value_and_grad`.

    Returns:
        A function of the arguments of `fun` that returns the gradient, with `has_aux` the pair
        `(gradient, aux)`.

    Raises:
        NotDifferentiableError: The result is not a scalar or not real, an argument is an integer.
        AxisNameError: `reduce_axes` names an axis that is not in scope.

    Example:
        >>> from axonym_core import lax
        >>> float(grad(lambda x: lax.sin(x))(0.0))
        1.0
    """
    both = _grad("grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def _grad(
    what: str,
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    reduce_axes: ReduceAxes,
) -> Callable[..., Any]:
    if not callable(fun):
        raise ArgumentTypeError(f"{what}: fun must be a function, got {type(fun).__name__}")

    name = function_name(fun)

    @wraps(fun)
    def both(*args: Any, **kwargs: Any) -> Any:
        reading = reading_of(reduce_axes)
        positions = selected(argnums, args, what, fun)
        chosen = tuple([args[i] for i in positions])
        leaves, tree = tree_flatten(chosen)
        check_inputs(
            leaves,
            lambda i: argument_path(fun, positions, tree, i),
            f"{what}({name})",
            holomorphic=holomorphic,
            allow_int=allow_int,
        )

        def of_chosen(*moving: Any) -> Any:
            full = list(args)
            for i, x in zip(positions, moving, strict=True):
                full[i] = x
            return fun(*full, **kwargs)

        values, out_tree, pullback, aux = _vjp(what, of_chosen, name, chosen, reading, has_aux)
        seed = _seed(pullback.out_avals, out_tree, what, name, holomorphic)
        gradients = tree_unflatten(tree, pullback.flat([seed]))
        value = tree_unflatten(out_tree, values)
        result = gradients[0] if isinstance(argnums, int) else gradients
        return ((value, aux) if has_aux else value), result

    return both


def _seed(
    avals: Sequence[ShapedArray], tree: PyTreeDef, what: str, name: str, holomorphic: bool
) -> Any:
    """The cotangent 1 for a scalar result, after checking that it is one."""
    if len(avals) != 1 or tree.num_nodes != 1:
        raise NotDifferentiableError(
            f"{what}: {name} must return one scalar, it returned the structure {tree}; return a "
            "scalar loss, with has_aux=True for further results"
        )
    (aval,) = avals
    if aval.shape:
        raise NotDifferentiableError(
            f"{what}: {name} must return a scalar, its result has type {aval}; reduce it (sum or "
            "mean) or use vjp"
        )
    dtype = aval.dtype
    if dtype.kind == "c" and not holomorphic:
        raise NotDifferentiableError(
            f"{what}: {name} returned a complex number ({aval}); take the real part or abs(), or "
            "pass holomorphic=True if the function is holomorphic"
        )
    if holomorphic and dtype.kind != "c":
        raise NotDifferentiableError(
            f"{what} with holomorphic=True: {name} must return a complex number, got {aval}"
        )
    if not dtypes.is_inexact(dtype):
        raise NotDifferentiableError(
            f"{what}: {name} must return a floating-point number, got {aval}"
        )
    return scalar_of(1, dtype)


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: ReduceAxes = None
) -> Callable[[Any], Any]:
    """Transpose a linear function.

    Args:
        fun: Function of trees of arrays, linear in them.
        *primals: Arguments of the types to expect: arrays or `ShapeDtypeStruct` objects.
        reduce_axes: Named axes to read collectively; see `vjp`.

    Returns:
        A function from a cotangent of the result to the tuple of cotangents of the arguments.

    Raises:
        NotLinearError: The function is not linear.
        AxisNameError: `reduce_axes` names an axis that is not in scope.

    Example:
        >>> from axonym_core import lax
        >>> transpose = linear_transpose(lambda x: lax.mul(x, 3.0), 1.0)
        >>> float(transpose(2.0)[0])
        6.0
    """
    reading = reading_of(reduce_axes)
    leaves, in_tree = tree_flatten(primals)
    tape = TapeTrace(context.trace)
    inputs = []
    for i, x in enumerate(leaves):
        aval = type_of(python_number(x))
        if not dtypes.is_inexact(aval.dtype):
            raise NotDifferentiableError(
                f"linear_transpose: {leaf_path(in_tree, i, 'primals')} has dtype "
                f"{aval.dtype.name}; linear functions act on floating-point or complex arrays"
            )
        inputs.append(tape.new_input(aval))
    out = run_and_end((tape,), fun, *tree_unflatten(in_tree, inputs))
    out_leaves, out_tree = tree_flatten(out)
    return Pullback(
        "linear_transpose",
        tape.eqns,
        [x.variable for x in inputs],
        [type_of(python_number(x)) for x in leaves],
        in_tree,
        [variable(o) for o in out_leaves],
        [aval_of(o) for o in out_leaves],
        out_tree,
        reading,
    )
