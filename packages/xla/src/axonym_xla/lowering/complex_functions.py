"""Functions of complex numbers, with the special values that C99 (Annex G) and NumPy give them.

The compiler's own complex functions look at no sign of a zero, and make NaN of many infinities. All
these functions are symmetric, so they are computed in one half plane or one quadrant and mirrored,
which gives the right side of every branch cut and the right sign of every zero; what is left is
chosen part by part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from axonym_core.primitives import elementwise as p
from axonym_core.programs import Primitive
from axonym_core.types import COMPLEXES, ShapedArray, bool_, dtypes

from .registry import LoweringContext, LoweringRule

Avals = Sequence[ShapedArray]
Parts = tuple[str, str]


class PartWriter:
    """Writes operations on the real and imaginary parts of complex arrays of one type."""

    def __init__(self, ctx: LoweringContext, whole: ShapedArray) -> None:
        self.ctx = ctx
        self.whole = whole
        self.wide = whole.dtype == dtypes.complex128
        self.part = whole.update(dtype=dtypes.float64 if self.wide else dtypes.float32)
        bits = dtypes.int64 if self.wide else dtypes.int32
        self._bits = whole.update(dtype=bits, weak_type=False)
        self._truth = whole.update(dtype=bool_, weak_type=False)

    def op(self, name: str, *xs: str) -> str:
        """An operation of StableHLO on parts."""
        return self.ctx.op(f"stablehlo.{name} {', '.join(xs)} : {self.ctx.type(self.part)}")

    def chlo(self, name: str, x: str) -> str:
        """An operation of CHLO on a part."""
        text = self.ctx.type(self.part)
        return self.ctx.op(f"chlo.{name} {x} : {text} -> {text}")

    def number(self, value: float) -> str:
        """A constant part."""
        return self.ctx.constant(value, self.part)

    def split(self, z: str) -> Parts:
        """Real and imaginary part."""
        whole, part = self.ctx.type(self.whole), self.ctx.type(self.part)
        real = self.ctx.op(f"stablehlo.real {z} : ({whole}) -> {part}")
        return real, self.ctx.op(f"stablehlo.imag {z} : ({whole}) -> {part}")

    def join(self, x: str, y: str) -> str:
        """The complex number of two parts."""
        return self.ctx.op(f"stablehlo.complex {x}, {y} : {self.ctx.type(self.whole)}")

    def compare(self, direction: str, x: str, y: str | float) -> str:
        """Truth values of a comparison."""
        text = self.ctx.type(self.part)
        other = y if isinstance(y, str) else self.number(y)
        return self.ctx.op(
            f"stablehlo.compare {direction}, {x}, {other}, FLOAT : ({text}, {text}) -> "
            f"{self.ctx.type(self._truth)}"
        )

    def logical(self, name: str, *xs: str) -> str:
        """`and`, `or`, `xor`, `not` of truth values."""
        return self.ctx.op(f"stablehlo.{name} {', '.join(xs)} : {self.ctx.type(self._truth)}")

    def choose(self, condition: str, yes: str, no: str) -> str:
        """Parts chosen by truth values."""
        return self.ctx.op(
            f"stablehlo.select {condition}, {yes}, {no} : {self.ctx.type(self._truth)}, "
            f"{self.ctx.type(self.part)}"
        )

    def beyond(self, x: str) -> str:
        """Where a part is infinite or NaN."""
        text = self.ctx.type(self.part)
        finite = f"stablehlo.is_finite {x} : ({text}) -> {self.ctx.type(self._truth)}"
        return self.logical("not", self.ctx.op(finite))

    def negative(self, x: str) -> str:
        """Where the sign bit of a part is set."""
        text, bits = self.ctx.type(self.part), self.ctx.type(self._bits)
        word = self.ctx.op(f"stablehlo.bitcast_convert {x} : ({text}) -> {bits}")
        return self.ctx.op(
            f"stablehlo.compare LT, {word}, {self.ctx.constant(0, self._bits)}, SIGNED : "
            f"({bits}, {bits}) -> {self.ctx.type(self._truth)}"
        )

    def flip(self, condition: str, x: str) -> str:
        """A part with its sign changed where a condition holds."""
        return self.choose(condition, self.op("negate", x), x)


Whole = Callable[[], str]
"""Writes the compiler's own complex function of the mirrored operand."""

Patch = Callable[[PartWriter, str, str, Whole], Parts]
"""From the parts of a mirrored operand those of the result."""


def _plain(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    return b.split(w())


def _exp(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    wild = b.beyond(y)
    up = b.logical("and", wild, b.compare("EQ", x, math.inf))
    down = b.logical("and", wild, b.compare("EQ", x, -math.inf))
    zero = b.number(0.0)
    re = b.choose(up, b.number(math.inf), b.choose(down, zero, re))
    return re, b.choose(down, zero, im)


def _infinite(b: PartWriter, x: str, y: str) -> str:
    return b.logical("or", b.compare("EQ", b.op("abs", x), math.inf), b.compare("EQ", y, math.inf))


def _log(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    return b.choose(_infinite(b, x, y), b.number(math.inf), re), im


def _log1p(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = _log(b, x, y, w)
    return b.choose(b.compare("EQ", x, -1.0), b.op("log", y), re), im


def _sqrt(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    infinity, unknown = b.number(math.inf), b.compare("NE", y, y)
    right = b.logical("and", unknown, b.compare("EQ", x, math.inf))
    left = b.logical("and", unknown, b.compare("EQ", x, -math.inf))
    up = b.compare("EQ", y, math.inf)
    re = b.choose(b.logical("or", up, right), infinity, re)
    return re, b.choose(b.logical("or", up, left), infinity, im)


def _product(b: PartWriter, x: str, y: str) -> str:
    """A product in which 0 wins over infinities and NaN."""
    vanishes = b.logical("or", b.compare("EQ", x, 0.0), b.compare("EQ", y, 0.0))
    return b.choose(vanishes, b.number(0.0), b.op("multiply", x, y))


def _sinh_cosh(b: PartWriter, x: str, y: str) -> tuple[Parts, Parts]:
    """Hyperbolic sine and cosine in the first quadrant."""
    sine, cosine = b.op("sine", y), b.op("cosine", y)
    odd, even = b.chlo("sinh", x), b.chlo("cosh", x)
    growing = b.logical("and", b.compare("EQ", x, math.inf), b.beyond(y))
    # By 0 the sine of an infinity, which is NaN, is not meant: the number is real, or imaginary.
    sine = b.choose(b.compare("EQ", y, 0.0), b.number(0.0), sine)
    infinity = b.number(math.inf)
    sinh = b.choose(growing, infinity, _product(b, odd, cosine)), _product(b, even, sine)
    cosh = b.choose(growing, infinity, b.op("multiply", even, cosine)), _product(b, odd, sine)
    return sinh, cosh


def _sinh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    return _sinh_cosh(b, x, y)[0]


def _cosh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    return _sinh_cosh(b, x, y)[1]


def _sin(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = _sinh_cosh(b, y, x)[0]
    return im, re


def _cos(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = _sinh_cosh(b, y, x)[1]
    return re, b.op("negate", im)


def _unknown(b: PartWriter, x: str, of: str, other: str) -> str:
    """A part of the result: NaN where a part of the operand is, and the other one finite."""
    spoilt = b.logical("and", b.compare("NE", of, of), b.logical("not", b.beyond(other)))
    return b.choose(spoilt, of, x)


def _asin(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    return b.choose(b.compare("EQ", x, 0.0), b.number(0.0), re), _unknown(b, im, y, x)


def _asinh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    return _unknown(b, re, x, y), b.choose(b.compare("EQ", y, 0.0), b.number(0.0), im)


def _tanh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    zero = b.number(0.0)
    re = b.choose(b.compare("EQ", x, 0.0), zero, re)
    return re, b.choose(b.compare("EQ", y, 0.0), zero, im)


def _unknown_on_axis(b: PartWriter, x: str, y: str) -> str:
    return b.logical("and", b.compare("EQ", x, 0.0), b.compare("NE", y, y))


def _acos(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    re = b.choose(_unknown_on_axis(b, x, y), b.number(math.pi / 2), re)
    return re, _unknown(b, im, y, x)


def _acosh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    im = b.choose(_unknown_on_axis(b, x, y), b.number(math.pi / 2), im)
    return _unknown(b, re, y, x), im


def _atanh(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    re, im = b.split(w())
    re = b.choose(b.compare("EQ", x, 0.0), b.number(0.0), re)
    # Next to the pole at 1 the square of the distance would vanish.
    near = b.compare("LT", y, 1e-9 if b.wide else 1e-4)
    near = b.logical("and", near, b.compare("EQ", x, 1.0))
    gap = b.op("subtract", b.number(math.log(2)), b.op("log", y))
    re = b.choose(near, b.op("multiply", b.number(0.5), gap), re)
    return re, _unknown(b, b.choose(b.compare("NE", y, y), y, im), x, y)


def _sign(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
    zero, one, infinity = [b.number(k) for k in (0.0, 1.0, math.inf)]
    right = b.logical("and", b.compare("EQ", x, infinity), b.compare("NE", y, infinity))
    up = b.logical("and", b.compare("EQ", y, infinity), b.compare("NE", x, infinity))
    # A quarter of large numbers, whose size would overflow.
    large = b.compare("GT", b.op("maximum", x, y), 1.0)
    quarter = b.number(0.25)
    z = b.join(*[b.choose(large, b.op("multiply", part, quarter), part) for part in (x, y)])
    re, im = b.split(b.ctx.op(f"stablehlo.sign {z} : {b.ctx.type(b.whole)}"))
    re = b.choose(right, one, b.choose(up, zero, re))
    return re, b.choose(up, one, b.choose(right, zero, im))


def _swapped(patch: Patch) -> Patch:
    """Patch of the circular function from that of the hyperbolic one: they swap the two parts."""

    def swap(b: PartWriter, x: str, y: str, w: Whole) -> Parts:
        re, im = patch(b, y, x, w)
        return im, re

    return swap


class _Function(NamedTuple):
    """How a function is mirrored: in the real axis, or in both, where it is odd or even."""

    operation: str
    mirror: Literal["upper", "odd", "even"]
    patch: Patch
    swapped: bool = False


_FUNCTIONS: Final[dict[Primitive, _Function]] = {
    p.exp_p: _Function("stablehlo.exponential", "upper", _exp),
    p.expm1_p: _Function("stablehlo.exponential_minus_one", "upper", _plain),
    p.log_p: _Function("stablehlo.log", "upper", _log),
    p.log1p_p: _Function("stablehlo.log_plus_one", "upper", _log1p),
    p.sqrt_p: _Function("stablehlo.sqrt", "upper", _sqrt),
    p.acos_p: _Function("chlo.acos", "upper", _acos),
    p.acosh_p: _Function("chlo.acosh", "upper", _acosh),
    p.sinh_p: _Function("", "odd", _sinh),
    p.cosh_p: _Function("", "even", _cosh),
    p.sin_p: _Function("", "odd", _sin),
    p.cos_p: _Function("", "even", _cos),
    p.tanh_p: _Function("stablehlo.tanh", "odd", _tanh),
    p.tan_p: _Function("stablehlo.tanh", "odd", _swapped(_tanh), swapped=True),
    p.asin_p: _Function("chlo.asin", "odd", _asin),
    p.asinh_p: _Function("chlo.asinh", "odd", _asinh),
    p.atanh_p: _Function("chlo.atanh", "odd", _atanh),
    p.atan_p: _Function("chlo.atanh", "odd", _swapped(_atanh), swapped=True),
    p.sign_p: _Function("", "odd", _sign),
}


def with_complex_values(primitive: Primitive, rule: LoweringRule) -> LoweringRule:
    """Rule of a primitive, with a rule for complex numbers that gives the special values.

    Args:
        primitive: A primitive of one operand.
        rule: The rule for real numbers.
    """
    function = _FUNCTIONS.get(primitive)
    if function is None:
        return rule
    mirrored = function

    def lower(
        ctx: LoweringContext, avals_in: Avals, avals_out: Avals, z: str, **params: Any
    ) -> Any:
        if avals_in[0].dtype not in COMPLEXES:
            return rule(ctx, avals_in, avals_out, z, **params)
        return _lower(mirrored, PartWriter(ctx, avals_in[0]), z)

    return lower


def _lower(function: _Function, b: PartWriter, z: str) -> str:
    x, y = b.split(z)
    left, below = b.negative(x), b.negative(y)
    if function.mirror != "upper":
        x = b.op("abs", x)
    y = b.op("abs", y)

    def whole() -> str:
        text = b.ctx.type(b.whole)
        operand = b.join(y, x) if function.swapped else b.join(x, y)
        types = f"{text} -> {text}" if function.operation.startswith("chlo") else text
        return b.ctx.op(f"{function.operation} {operand} : {types}")

    re, im = function.patch(b, x, y, whole)
    if function.mirror == "odd":
        re = b.flip(left, re)
    if function.mirror == "even":
        below = b.logical("xor", left, below)
    return b.join(re, b.flip(below, im))


def size(ctx: LoweringContext, aval: ShapedArray, z: str, out: ShapedArray) -> str:
    """Absolute value of complex numbers: infinite where a part is, even beside NaN."""
    b = PartWriter(ctx, aval)
    x, y = b.split(z)
    plain = ctx.op(f"stablehlo.abs {z} : ({ctx.type(aval)}) -> {ctx.type(out)}")
    return b.choose(_infinite(b, x, b.op("abs", y)), b.number(math.inf), plain)
