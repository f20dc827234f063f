"""What a module is made of before it becomes text: functions, with typed arguments and results.

The operations of a function are lines of text, for which no object is made. Whoever wants to know
about a module or to change it does so here, and never in the text.

    >>> x = Argument("%arg0", "tensor<f32>", donated=True)
    >>> main = Function("main", [x], [], ["%arg0"], ["tensor<f32>"], public=True)
    >>> print(Module("identity", [main]).text())
    module @identity {
    func.func public @main(%arg0: tensor<f32> {jax.buffer_donor = true} loc(unknown)) -> (tensor<f32>) {
    return %arg0 : tensor<f32> loc(unknown)
    } loc(unknown)
    } loc(unknown)
    <BLANKLINE>
"""  # noqa: E501  # a line of MLIR

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Argument", "Function", "Module"]


class Argument(NamedTuple):
    """An argument of a function.

    Attributes:
        name: Its name, as in `%arg0`.
        type: Its type, as in `tensor<f32>`.
        donated: Whether it gives up its buffer.
        alias: The result that takes the buffer over; None where no result has the type.
    """

    name: str
    type: str
    donated: bool = False
    alias: int | None = None

    def text(self) -> str:
        """The argument in the head of its function."""
        if not self.donated:
            return f"{self.name}: {self.type} loc(unknown)"
        how = (
            "jax.buffer_donor = true"
            if self.alias is None
            else f"tf.aliasing_output = {self.alias} : i32"
        )
        return f"{self.name}: {self.type} {{{how}}} loc(unknown)"


class Function(NamedTuple):
    """A function.

    Attributes:
        name: Its name, without the `@`.
        arguments: Its arguments.
        lines: Its operations, each with its end of line.
        returned: Names of what it returns.
        results: Types of that.
        public: Whether it is an entry of the module.
    """

    name: str
    arguments: Sequence[Argument]
    lines: Sequence[str]
    returned: Sequence[str]
    results: Sequence[str]
    public: bool = False

    @property
    def signature(self) -> str:
        """The function's type, as in `(tensor<f32>) -> (tensor<i1>)`."""
        return f"({', '.join([a.type for a in self.arguments])}) -> ({', '.join(self.results)})"

    def call(self, operands: Sequence[str], *, kept: bool) -> str:
        """A call of the function.

        Args:
            operands: Names of the operands.
            kept: Whether the compiler must not inline the call. It compiles the body of the
                function once for all such calls.
        """
        how = ' {mhlo.frontend_attributes = {inlineable = "false"}}' if kept else ""
        return f"func.call @{self.name}({', '.join(operands)}){how} : {self.signature}"

    def text(self) -> str:
        """The function in a module."""
        types = ", ".join(self.results)
        end = f"return {', '.join(self.returned)} : {types}" if self.returned else "return"
        return (
            f"func.func {'public' if self.public else 'private'} @{self.name}"
            f"({', '.join([a.text() for a in self.arguments])}) -> ({types}) {{\n"
            f"{''.join(self.lines)}{end} loc(unknown)\n}} loc(unknown)\n"
        )


class Module(NamedTuple):
    """A module.

    Attributes:
        name: Its name, without the `@`.
        functions: Its functions; the first one is the program's `main`.
    """

    name: str
    functions: Sequence[Function]

    def text(self) -> str:
        """The module as StableHLO."""
        body = "".join([function.text() for function in self.functions])
        return f"module @{self.name} {{\n{body}}} loc(unknown)\n"
