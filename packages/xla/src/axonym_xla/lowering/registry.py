"""The table of lowering rules, and what a rule is given to write StableHLO with.

A rule turns one equation into StableHLO text:
`rule(ctx, avals_in, avals_out, *operands, **params) -> str | list[str]`. Operands and results are
SSA names (`%3`); what stands between them are calls of `ctx.op`, whose text is the operation with
its type signature:

    def lower_tanh(ctx, avals_in, avals_out, x):
        return ctx.op(f"stablehlo.tanh {x} : {ctx.type(avals_out[0])}")

Text is all there is: no object is made for an operation, so that lowering costs little beside
tracing. Each operation has an unknown location, so that moving a line of Python changes neither the
program nor its key in a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, final, overload

import numpy as np

from axonym_core.programs import Jaxpr, Primitive
from axonym_core.types import ShapedArray, dtypes

from ..errors import ArgumentError
from .constants import dense, splat
from .types import element_type, tensor_type

if TYPE_CHECKING:
    from .fusion_cuts import Expression
    from .module import ModuleBuilder

LoweringRule = Callable[..., str | list[str]]
"""What writes the operations of a primitive; see `register_lowering`."""

lowering_rules: Final[dict[Primitive, LoweringRule]] = {}
"""The rule of each primitive that is not for one platform only."""

_platform_rules: Final[dict[str, dict[Primitive, LoweringRule]]] = {}


def register_lowering(
    primitive: Primitive, rule: LoweringRule, platform: str | None = None
) -> None:
    """Set the lowering rule of a primitive.

    Args:
        primitive: The primitive.
        rule: `rule(ctx, avals_in, avals_out, *operands, **params)`; it returns the name of the
            result, or a list of names where the primitive has multiple results.
        platform: The platform that the rule is for, such as `"cpu"`; None for all those for which
            there is no rule of their own.

    Raises:
        ArgumentError: `platform` is no name.
    """
    if platform is None:
        lowering_rules[primitive] = rule
        return
    given: Any = platform
    if not isinstance(given, str) or not given:
        raise ArgumentError(
            f"register_lowering: platform must be a name such as 'cpu', or None for all; got "
            f"{platform!r}."
        )
    _platform_rules.setdefault(platform, {})[primitive] = rule


def rules_for(platform: str) -> Mapping[Primitive, LoweringRule]:
    """The rule of each primitive on a platform: its own one where there is one."""
    own = _platform_rules.get(platform)
    return {**lowering_rules, **own} if own else lowering_rules


def platforms_of(primitive: Primitive) -> list[str]:
    """The platforms for which a primitive has a rule of their own."""
    return sorted(name for name, rules in _platform_rules.items() if primitive in rules)


@final
class Scope:
    """The operations of one block, and the constants and broadcasts that it has already made.

    They are not looked up in the blocks around it, for the bodies of reductions and sorts must not
    refer to values outside of themselves.
    """

    __slots__ = ("broadcasts", "constants", "expressions", "lines", "result_readers", "scalars")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[Any, str] = {}
        self.scalars: dict[str, tuple[Any, np.dtype[Any]]] = {}
        self.broadcasts: dict[tuple[str, tuple[int, ...]], str] = {}
        # Of `fusion_cuts`: expressions by name, and how many operations read each result of the
        # equation that is being written.
        self.expressions: dict[str, Expression] = {}
        self.result_readers: Sequence[int] | None = None


@final
class LoweringContext:
    """Writes the body of one function of a module.

    Attributes:
        module: The module that the function belongs to.
        scope: The block that is being written.
        captured: Arrays that the function refers to besides its arguments, by identity: the name
            of the hidden argument that stands for each, and the array.
    """

    __slots__ = ("_next", "_types", "captured", "module", "scope")

    def __init__(self, module: ModuleBuilder) -> None:
        self.module = module
        self.scope = Scope()
        self.captured: dict[int, tuple[str, Any]] = {}
        self._next = 0
        self._types = module.types

    def type(self, aval: ShapedArray) -> str:
        """Tensor type of an aval, as in `tensor<3xf32>`."""
        text = self._types.get(aval)
        if text is None:
            text = self._types[aval] = tensor_type(aval.shape, aval.dtype)
        return text

    def element_type(self, dtype: np.dtype[Any]) -> str:
        """Element type of a dtype, as in `f32`."""
        return element_type(dtype)

    @overload
    def op(self, body: str) -> str: ...
    @overload
    def op(self, body: str, results: Literal[1]) -> str: ...
    @overload
    def op(self, body: str, results: int) -> Any: ...
    def op(self, body: str, results: int = 1) -> Any:
        """Write an operation.

        Args:
            body: The operation with its type signature.
            results: How many results it has.

        Returns:
            The name of the result; a list of names where `results` is not 1.
        """
        n = self._next
        self._next = n + 1
        if results == 1:
            self.scope.lines.append(f"%{n} = {body} loc(unknown)\n")
            return f"%{n}"
        if results == 0:
            self.scope.lines.append(f"{body} loc(unknown)\n")
            return []
        self.scope.lines.append(f"%{n}:{results} = {body} loc(unknown)\n")
        return [f"%{n}#{i}" for i in range(results)]

    def barrier(self, operands: Sequence[str], types: Sequence[str]) -> list[str]:
        """Write an optimization barrier, and return the names of what is behind it.

        Args:
            operands: Names of the values.
            types: Their types.
        """
        out = self.op(self.module.barriers.operation(operands, types), len(operands))
        return [out] if len(operands) == 1 else out

    def constant(self, value: Any, aval: ShapedArray) -> str:
        """Write a constant, or return the one already written in this block.

        Args:
            value: A scalar, which fills the array, or an array of the aval's shape.
            aval: Type of the result. The value is converted to its dtype.
        """
        dtype = dtypes.storage_dtype(aval.dtype)
        if dtype == dtypes.float0:
            dtype, value = dtypes.bool_, False
        if aval.size == 0:
            return self.op(f"stablehlo.constant dense<> : {self.type(aval)}")
        array = np.asarray(value, dtype)
        if array.size != 1:
            return self.op(f"stablehlo.constant {dense(array, dtype)} : {self.type(aval)}")
        scope = self.scope
        key = (array.tobytes(), aval)
        name = scope.constants.get(key)
        if name is None:
            name = self.op(f"stablehlo.constant {splat(array, dtype)} : {self.type(aval)}")
            scope.constants[key] = name
            scope.scalars[name] = (array.reshape(()), dtype)
        return name

    def broadcast_scalar(self, x: str, aval_from: ShapedArray, aval_to: ShapedArray) -> str:
        """Broadcast a rank-0 operand to the shape of `aval_to`, keeping its own dtype.

        An operand of that shape is returned as it is.
        """
        shape = aval_to.shape
        if aval_from.shape == shape:
            return x
        scope = self.scope
        known = scope.scalars.get(x)
        if known is not None:
            return self.constant(known[0], ShapedArray(shape, known[1]))
        name = scope.broadcasts.get((x, shape))
        if name is None:
            to = tensor_type(shape, aval_from.dtype)
            name = scope.broadcasts[x, shape] = self.op(
                f"stablehlo.broadcast_in_dim {x}, dims = [] : ({self.type(aval_from)}) -> {to}"
            )
        return name

    def broadcast_in_dim(
        self, x: str, aval_from: ShapedArray, aval_to: ShapedArray, dims: Sequence[int]
    ) -> str:
        """Place the dimensions of `x` at the positions `dims` of the shape of `aval_to`."""
        if aval_from.shape == aval_to.shape and tuple(dims) == tuple(range(aval_to.ndim)):
            return x
        if aval_from.ndim == 0:
            return self.broadcast_scalar(x, aval_from, aval_to)
        to = tensor_type(aval_to.shape, aval_from.dtype)
        listed = ", ".join(map(str, dims))
        return self.op(
            f"stablehlo.broadcast_in_dim {x}, dims = [{listed}] : ({self.type(aval_from)}) -> {to}"
        )

    def convert(self, x: str, aval_from: ShapedArray, aval_to: ShapedArray) -> str:
        """Convert to the dtype of `aval_to`; the shape is that of `aval_from`.

        Truth values are "is not 0"; a complex number loses its imaginary part.
        """
        source, target = aval_from.dtype, aval_to.dtype
        if source is target:
            return x
        if source in dtypes.COMPLEXES and target not in dtypes.COMPLEXES and target != np.bool_:
            part = np.dtype(np.float32 if source is dtypes.complex64 else np.float64)
            aval_from = ShapedArray(aval_from.shape, part)
            to_type = self.type(aval_from)
            x = self.op(
                f"stablehlo.real {x} : ({tensor_type(aval_from.shape, source)}) -> {to_type}"
            )
            source = part
            if source is target:
                return x
        from_type = self.type(aval_from)
        to_type = tensor_type(aval_from.shape, target)
        if target is dtypes.bool_:
            zero = self.constant(np.zeros((), source), aval_from)
            return self.op(
                f"stablehlo.compare NE, {x}, {zero} : ({from_type}, {from_type}) -> {to_type}"
            )
        return self.op(f"stablehlo.convert {x} : ({from_type}) -> {to_type}")

    def region(
        self,
        arg_types: Sequence[str],
        build: Callable[[list[str]], Sequence[str]],
        terminator: str = "stablehlo.return",
        result_types: Sequence[str] = (),
    ) -> str:
        """Write a region of one block, and return its text for use in an operation.

        Args:
            arg_types: Types of the block's arguments.
            build: Called with their names; writes operations through this context and returns the
                names of the results.
            terminator: The operation that ends the block.
            result_types: Types of the results.
        """
        first = self._next
        self._next = first + len(arg_types)
        args = [f"%{first + i}" for i in range(len(arg_types))]
        outer = self.scope
        inner = self.scope = Scope()
        try:
            results = build(args)
        finally:
            self.scope = outer
        head = ", ".join([f"{a}: {t} loc(unknown)" for a, t in zip(args, arg_types, strict=True)])
        label = f"^bb0({head}):\n" if args else ""
        end = f" {', '.join(results)} : {', '.join(result_types)}" if results else ""
        return f"{{\n{label}{''.join(inner.lines)}{terminator}{end} loc(unknown)\n}}"

    def inline(self, jaxpr: Jaxpr, *operands: str) -> list[str]:
        """Write the equations of a jaxpr here, and return the names of its results."""
        return self.module.inline(self, jaxpr, operands)

    def call(self, jaxpr: Jaxpr, *operands: str) -> list[str]:
        """Call the private function of a jaxpr, which is written at the first call."""
        return self.module.call(self, jaxpr, operands)
