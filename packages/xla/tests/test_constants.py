"""Constants keep every bit on their way through the text."""

from __future__ import annotations

import numpy as np
import pytest

from axonym_core.programs import Jaxpr, Primitive
from axonym_core.types import ShapedArray, dtypes
from axonym_xla import backend, lower, register_lowering
from axonym_xla.lowering.constants import dense, element, splat
from axonym_xla.lowering.types import element_type, tensor_type

_VALUES: list[np.ndarray] = []

constant_p = Primitive("test_constant", lambda *, index, aval: aval)
register_lowering(
    constant_p,
    lambda ctx, avals_in, avals_out, *, index, aval: ctx.constant(_VALUES[index], aval),
)


def through_xla(value: np.ndarray, aval: ShapedArray) -> np.ndarray:
    """The constant as a compiled program gives it."""
    from axonym_core.tracing import trace_flat

    _VALUES.append(value)
    index = len(_VALUES) - 1
    jaxpr: Jaxpr = trace_flat(lambda: [constant_p.bind(index=index, aval=aval)], [])
    (out,) = backend.compile(jaxpr)([])
    return backend.to_host(out.buffer)


def random_bits(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of random bits, NaNs and infinities among them."""
    rng = np.random.default_rng(0)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype == np.bool_:
        return raw[..., 0] % 2 == 0
    if dtype.name in ("int4", "uint4"):
        return (raw[..., 0] % 8).astype(dtype)
    return np.ascontiguousarray(raw).reshape(-1).view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", dtypes.DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (0,), (2, 0, 3)])
def test_every_bit_of_every_dtype_survives(dtype, shape):
    value = random_bits(dtype, shape)

    out = through_xla(value, ShapedArray(shape, dtype))

    assert out.dtype == dtype
    assert out.shape == shape
    assert out.tobytes() == value.tobytes()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "-0.0", "1e-7"])
def test_special_numbers_survive(name, text):
    dtype = dtypes.DTYPES[name]
    value = np.array(float(text), dtype)

    out = through_xla(value, ShapedArray((3,), dtype))

    assert out.tobytes() == np.full((3,), value).tobytes()


@pytest.mark.parametrize(
    ("value", "name"),
    [(2**64 - 1, "uint64"), (-(2**63), "int64"), (-8, "int4"), (15, "uint4"), (255, "uint8")],
)
def test_extreme_integers_survive(value, name):
    dtype = dtypes.DTYPES[name]

    assert int(through_xla(np.array(value, dtype), ShapedArray((), dtype))) == value


def test_a_scalar_fills_an_array():
    out = through_xla(np.float32(2.5), ShapedArray((2, 3), "float32"))

    np.testing.assert_array_equal(out, np.full((2, 3), 2.5, np.float32))


@pytest.mark.parametrize("order", ["C", "F"])
def test_strided_arrays_are_written_in_row_major_order(order):
    value = np.array(np.arange(12, dtype=np.int32).reshape(3, 4), order=order)[::-1, ::2]

    out = through_xla(value, ShapedArray((3, 2), "int32"))

    np.testing.assert_array_equal(out, value)


def test_big_endian_arrays_are_swapped():
    value = np.arange(3, dtype=">i4")

    np.testing.assert_array_equal(
        through_xla(value, ShapedArray((3,), "int32")), np.arange(3, dtype=np.int32)
    )


def test_floats_are_written_as_bits():
    assert splat(np.float32(1.5), np.dtype("float32")) == "dense<0x3FC00000>"
    assert element(np.nan, np.dtype("float64")) == "0x7FF8000000000000"
    assert element(1 - 2j, np.dtype("complex64")) == "(0x3F800000, 0xC0000000)"
    assert element(True, np.dtype("bool")) == "true"
    assert element(-3, np.dtype("int8")) == "-3"


def test_arrays_of_equal_elements_are_written_once():
    assert dense(np.full((100,), 7, np.int32), np.dtype("int32")) == "dense<7>"
    assert dense(np.array([0.0, -0.0], np.float32), np.dtype("float32")) != "dense<0x00000000>"


def test_empty_arrays_have_no_elements():
    assert dense(np.zeros((3, 0), np.float32), np.dtype("float32")) == "dense<>"


def test_types_are_spelt_as_mlir_does():
    assert tensor_type((2, 3), np.dtype("float32")) == "tensor<2x3xf32>"
    assert tensor_type((), np.dtype("bool")) == "tensor<i1>"
    assert tensor_type((0,), np.dtype("complex128")) == "tensor<0xcomplex<f64>>"
    assert element_type(dtypes.bfloat16) == "bf16"
    assert element_type(dtypes.float8_e4m3b11fnuz) == "f8E4M3B11FNUZ"
    assert element_type(dtypes.uint4) == "ui4"


def test_a_dtype_that_xla_lacks_is_refused():
    with pytest.raises(dtypes.DTypeError, match=r"no arrays of dtype datetime64.*float32"):
        element_type(np.dtype("datetime64[s]"))


def test_a_constant_is_written_once_in_a_block():
    from axonym_core import lax
    from axonym_core.tracing import make_jaxpr

    text = lower(make_jaxpr(lambda x: lax.mul(lax.add(x, 2.0), 2.0))(np.ones(3, np.float32)))

    assert text.count("stablehlo.constant") <= 2  # the scalar and the filled array
