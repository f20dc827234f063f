from __future__ import annotations

import enum
import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonym_core import lax
from axonym_core.arrays import as_concrete
from axonym_core.errors import DTypeError
from axonym_core.settings import config
from axonym_core.types import dtypes

DTYPES = list(dtypes.DTYPES.values())
FLOAT8 = [d for d in DTYPES if d.name.startswith("float8")]
INT4 = [dtypes.int4, dtypes.uint4]
PLAIN = [d for d in DTYPES if d not in (*FLOAT8, *INT4)]

# The documented promotion table, in the documentation's order. A star marks a weak result: the
# kind's default dtype, which the test sets to 64 bits.
TABLE = """
b1 u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 cg i* f* c*
u1 u1 u2 u4 u8 i2 i2 i4 i8 bf f2 f4 f8 c8 cg u1 f* c*
u2 u2 u2 u4 u8 i4 i4 i4 i8 bf f2 f4 f8 c8 cg u2 f* c*
u4 u4 u4 u4 u8 i8 i8 i8 i8 bf f2 f4 f8 c8 cg u4 f* c*
u8 u8 u8 u8 u8 f* f* f* f* bf f2 f4 f8 c8 cg u8 f* c*
i1 i2 i4 i8 f* i1 i2 i4 i8 bf f2 f4 f8 c8 cg i1 f* c*
i2 i2 i4 i8 f* i2 i2 i4 i8 bf f2 f4 f8 c8 cg i2 f* c*
i4 i4 i4 i8 f* i4 i4 i4 i8 bf f2 f4 f8 c8 cg i4 f* c*
i8 i8 i8 i8 f* i8 i8 i8 i8 bf f2 f4 f8 c8 cg i8 f* c*
bf bf bf bf bf bf bf bf bf bf f4 f4 f8 c8 cg bf bf c8
f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f2 f4 f8 c8 cg f2 f2 c8
f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 cg f4 f4 c8
f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 cg cg f8 f8 cg
c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 cg c8 cg c8 c8 c8
cg cg cg cg cg cg cg cg cg cg cg cg cg cg cg cg cg cg
i* u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 cg i* f* c*
f* f* f* f* f* f* f* f* f* bf f2 f4 f8 c8 cg f* f* c*
c* c* c* c* c* c* c* c* c* c8 c8 c8 cg c8 cg c* c* c*
"""
ORDER = TABLE.split("\n")[1].split()
SHORT = {
    "b1": dtypes.bool_,
    "bf": dtypes.bfloat16,
    "c8": dtypes.complex64,
    "cg": dtypes.complex128,
    "i*": int,
    "f*": float,
    "c*": complex,
} | {f"{k}{n}": np.dtype(f"{k}{n}") for k in "uif" for n in (1, 2, 4, 8) if (k, n) != ("f", 1)}
CASES = [
    (row, column, result)
    for row, line in zip(ORDER, TABLE.split("\n")[1:-1], strict=True)
    for column, result in zip(ORDER, line.split(), strict=True)
]


def operand(short):
    dtype = SHORT[short]
    return (dtypes.as_dtype(dtype), isinstance(dtype, type))


@pytest.mark.parametrize("bits", [32, 64])
def test_promotion_is_the_documented_table(bits):
    assert len(CASES) == len(ORDER) ** 2
    with config.override(default_float_bits=bits, default_int_bits=bits):
        for row, column, result in CASES:
            expected = operand(result)
            assert dtypes.lattice_result((operand(row), operand(column))) == expected, (row, column)
            assert dtypes.promote_types(SHORT[row], SHORT[column]) == expected[0]


strong = st.sampled_from(PLAIN)
any_dtype = st.sampled_from(DTYPES)
operands = st.tuples(any_dtype, st.booleans())


def attempt(*pairs):
    try:
        return dtypes.lattice_result(pairs)
    except DTypeError:
        return None


@given(operands, operands)
def test_promotion_is_commutative(a, b):
    assert attempt(a, b) == attempt(b, a)


@given(strong, strong, strong)
def test_promotion_is_associative_without_64_bit_unsigned_and_signed_together(a, b, c):
    # uint64 with a signed integer gives a *weak* float, which a dtype alone cannot express.
    if dtypes.uint64 in (a, b, c) and any(dtypes.is_signed(d) for d in (a, b, c)):
        return
    left = dtypes.promote_types(dtypes.promote_types(a, b), c)
    assert left == dtypes.promote_types(a, dtypes.promote_types(b, c))
    assert left == dtypes.result_type(a, b, c)


@given(st.lists(st.tuples(strong, st.just(False)), min_size=1, max_size=5).map(tuple))
def test_promotion_of_strong_dtypes_can_be_done_pair_by_pair_with_their_strength(pairs):
    result = pairs[0]
    for pair in pairs[1:]:
        result = dtypes.lattice_result((result, pair))
    assert result == dtypes.lattice_result(pairs)


@given(any_dtype, st.integers(1, 4))
def test_promotion_is_idempotent(dtype, n):
    assert dtypes.lattice_result(((dtype, False),) * n) == (dtype, False)
    weak = dtype != dtypes.bool_
    assert dtypes.lattice_result(((dtype, True),) * n) == (dtype, weak)


@given(operands, operands)
def test_strong_operands_decide_over_weak_ones_of_the_same_kind(a, b):
    (dtype, _), (weak, _) = a, b
    same_kind = any(
        is_kind(dtype) and is_kind(weak)
        for is_kind in (dtypes.is_integer, dtypes.is_floating, dtypes.is_complex)
    )
    if same_kind:
        assert dtypes.lattice_result(((dtype, False), (weak, True))) == (dtype, False)


@pytest.mark.parametrize("narrow", FLOAT8, ids=lambda d: d.name)
def test_8_bit_floats_meet_lower_kinds_only(narrow):
    for other in DTYPES:
        if other == narrow or (dtypes.is_integer(other) and other not in INT4) or other.kind == "b":
            assert dtypes.promote_types(narrow, other) == narrow
        else:
            with pytest.raises(DTypeError, match=f"{narrow.name}.*no common dtype.*astype"):
                dtypes.result_type(other, narrow)
    assert dtypes.result_type(np.zeros(2, narrow), 1.5) == narrow
    with pytest.raises(DTypeError, match="no common dtype"):
        dtypes.result_type(narrow, 1j)


@pytest.mark.parametrize("narrow", INT4, ids=lambda d: d.name)
def test_4_bit_integers_meet_bool_and_weak_integers_only(narrow):
    assert dtypes.result_type(narrow, True, 3) == narrow
    for other in (dtypes.int8, dtypes.uint64, dtypes.float32, 1.5):
        with pytest.raises(DTypeError, match=f"{narrow.name}.*no common dtype"):
            dtypes.result_type(narrow, other)


def test_weak_operands_of_a_higher_kind_decide():
    assert dtypes.result_type_and_weak(np.int16(3), 1.5) == (dtypes.float32, True)
    assert dtypes.result_type_and_weak(np.bool_(True), 1) == (dtypes.int32, True)
    assert dtypes.result_type_and_weak(np.int64(3), 1j) == (dtypes.complex64, True)
    assert dtypes.result_type_and_weak(dtypes.float64, 1j) == (dtypes.complex128, False)


def test_bool_is_never_weak():
    assert dtypes.result_type_and_weak(True) == (dtypes.bool_, False)
    assert dtypes.lattice_result(((dtypes.bool_, True), (dtypes.bool_, True)))[1] is False


def test_results_follow_the_default_width():
    signed_and_unsigned = ((dtypes.uint64, False), (dtypes.int8, False))
    assert dtypes.lattice_result(signed_and_unsigned) == (dtypes.float32, True)
    assert dtypes.result_type(1, 2.0) == dtypes.float32
    with config.override(default_float_bits=64):
        assert dtypes.lattice_result(signed_and_unsigned) == (dtypes.float64, True)
        assert dtypes.result_type(1, 2.0) == dtypes.float64
    assert dtypes.lattice_result(signed_and_unsigned) == (dtypes.float32, True)


def test_numpy_float64_and_complex128_scalars_are_weak_and_other_scalars_are_not():
    x = np.zeros(3, ml_dtypes.bfloat16)
    assert dtypes.result_type(x, np.sqrt(2.0)) == dtypes.bfloat16
    assert dtypes.result_type(x, np.complex128(1j)) == dtypes.complex64
    assert dtypes.result_type(x, np.float32(2.0)) == dtypes.float32
    assert dtypes.result_type(x, np.array(2.0)) == dtypes.float64
    assert dtypes.result_type(np.int8(1), np.int64(1)) == dtypes.int64


def test_result_type_reads_dtype_and_weak_type_of_arrays():
    class FakeArray:
        dtype = np.dtype("float32")
        weak_type = True

    assert dtypes.result_type_and_weak(FakeArray(), np.float16(1)) == (dtypes.float16, False)
    assert dtypes.dtype_and_weak(FakeArray()) == (dtypes.float32, True)


def test_result_type_takes_dtypes_names_and_subclasses_of_numbers():
    class Level(enum.IntEnum):
        LOW = 1

    assert dtypes.result_type("int8", np.uint8) == dtypes.int16
    assert dtypes.result_type(np.int8(1), Level.LOW) == dtypes.int8
    assert dtypes.result_type(dtypes.int8, float) == dtypes.float32


@pytest.mark.parametrize("bad", [[1, 2], "word", None, object(), {}])
def test_result_type_of_what_has_no_dtype_names_the_argument(bad):
    with pytest.raises(DTypeError, match="argument 1"):
        dtypes.result_type(1.0, bad)


def test_result_type_of_nothing_is_an_error():
    with pytest.raises(DTypeError, match="at least one dtype"):
        dtypes.result_type()


def test_float0_and_extended_dtypes_mix_with_nothing_but_themselves():
    class KeyDType(dtypes.ExtendedDType):
        __slots__ = ()
        name = "key<test>"
        itemsize = 8

    key = KeyDType()
    assert dtypes.promote_types(dtypes.float0, dtypes.float0) == dtypes.float0
    assert dtypes.result_type(key, key) is key
    with pytest.raises(DTypeError, match="float32 and float0 have no common dtype"):
        dtypes.promote_types(dtypes.float0, "float32")
    with pytest.raises(DTypeError, match=r"float32 and key<test> .*extended dtypes"):
        dtypes.promote_types(key, "float32")
    assert dtypes.as_dtype(key) is key
    assert dtypes.is_extended(key)
    assert not dtypes.is_extended(dtypes.float32)
    assert dtypes.tangent_dtype(key) == dtypes.float0
    assert dtypes.issubdtype(key, dtypes.extended)
    assert not dtypes.issubdtype(key, np.number)
    assert not dtypes.issubdtype(dtypes.float32, dtypes.extended)


# --- naming a dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_as_dtype_finds_one_object_for_every_way_to_name_a_dtype(dtype):
    for name in (dtype, dtype.type, dtype.name, np.zeros(0, dtype).dtype):
        assert dtypes.as_dtype(name) is dtype


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f4", "float32"),
        (">f4", "float32"),
        (np.dtype(">c16"), "complex128"),
        ("=i8", "int64"),
        ("?", "bool"),
        ("bool_", "bool"),
        (np.longlong, "int64"),
        (np.dtype(float), "float64"),
        ("half", "float16"),
        ("double", "float64"),
    ],
)
def test_as_dtype_returns_the_native_dtype(name, expected):
    assert dtypes.as_dtype(name) is dtypes.DTYPES[expected]
    assert dtypes.as_dtype(name).isnative


@pytest.mark.parametrize("bits", [32, 64])
def test_python_types_and_their_names_stand_for_the_default_dtypes(bits):
    with config.override(default_float_bits=bits, default_int_bits=bits):
        expected = {
            bool: "bool",
            int: f"int{bits}",
            float: f"float{bits}",
            complex: f"complex{2 * bits}",
        }
        for kind, name in expected.items():
            assert dtypes.as_dtype(kind) == name
            assert dtypes.as_dtype(kind.__name__) == name
        assert dtypes.default_int_dtype() == f"int{bits}"
        assert dtypes.default_uint_dtype() == f"uint{bits}"
        assert dtypes.default_float_dtype() == f"float{bits}"
        assert dtypes.default_complex_dtype() == f"complex{2 * bits}"


def test_explicit_dtypes_are_honoured_whatever_the_default():
    for explicit in (np.float64, "float64", np.int64, "complex128"):
        assert dtypes.as_dtype(explicit) == np.dtype(explicit)
        assert dtypes.canonicalize(explicit) == np.dtype(explicit)


def test_as_dtype_takes_a_class_with_a_dtype():
    class float32_like:
        dtype = np.dtype("float32")

    assert dtypes.as_dtype(float32_like) is dtypes.float32


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("flaot32", r"dtype='flaot32' is not a dtype; did you mean 'float32'\?"),
        ("Float16", r"did you mean 'float16'\?"),
        ("bfloat61", r"did you mean 'bfloat16'\?"),
        ("no such thing", r"is not a dtype; supported are bfloat16, bool, complex128"),
        ("", r"dtype='' is not a dtype"),
        ("object", r"dtype='object' is not supported: arrays hold booleans and numbers only"),
        (object, r"dtype=object is not supported: arrays hold"),
        (str, r"dtype=<U0 is not supported: arrays hold"),
        ("S3", r"dtype='S3' is not supported: arrays hold"),
        ("datetime64[s]", r"dtype='datetime64\[s\]' is not supported: arrays hold"),
        (np.dtype([("a", "f4")]), r"is not supported: use one array per field"),
        ("f4,i4", r"dtype='f4,i4' is not supported: use one array per field"),
        (ml_dtypes.float4_e2m1fn, r"dtype=float4_e2m1fn is not supported: supported are bfloat16"),
        (None, r"dtype=None names no dtype"),
        (3, r"dtype must name a dtype; got 3 of type int"),
        ([1.0] * 99, r"dtype must name a dtype; got \[1\.0, .{,60}\.\.\. of type list"),
        (np.zeros((2, 3)), r"got an array of shape \(2, 3\)\. Pass the array's own attribute"),
    ],
)
def test_what_names_no_dtype_is_an_error_that_says_how_to_mend_it(bad, message):
    with pytest.raises(DTypeError, match=message):
        dtypes.as_dtype(bad)
    with pytest.raises(DTypeError, match="out_dtype"):
        dtypes.as_dtype(bad, "out_dtype")


@pytest.mark.parametrize(
    ("extended", "widest"), [("longdouble", "float64"), ("clongdouble", "complex128")]
)
def test_extended_precision_is_an_error_that_names_the_widest_dtype(extended, widest):
    if np.dtype(extended) == np.dtype(widest):  # as on some platforms
        assert dtypes.as_dtype(extended) == widest
        return
    for name in (extended, np.dtype(extended)):
        with pytest.raises(DTypeError, match=f"is not supported: the widest is '{widest}'"):
            dtypes.as_dtype(name)


@pytest.mark.parametrize("kind", [np.floating, np.integer, np.generic, dtypes.prng_key])
def test_a_kind_of_dtypes_is_no_dtype(kind):
    with pytest.raises(DTypeError, match=f"dtype={kind.__name__} is a kind of dtypes"):
        dtypes.as_dtype(kind)


# --- questions about a dtype


def test_each_dtype_is_of_exactly_one_kind():
    kinds = (dtypes.is_bool, dtypes.is_integer, dtypes.is_floating, dtypes.is_complex)
    for dtype in DTYPES:
        assert sum(is_kind(dtype) for is_kind in kinds) == 1
        assert dtypes.is_inexact(dtype) == (dtypes.is_floating(dtype) or dtypes.is_complex(dtype))
        assert dtypes.is_signed(dtype) == dtype.name.startswith("int")
        assert dtypes.is_floating(dtype) == ("float" in dtype.name)
        assert not dtypes.is_extended(dtype)
    assert not any(is_kind(dtypes.float0) for is_kind in kinds)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_tangent_dtype_is_the_dtype_itself_or_float0(dtype):
    expected = dtype if dtypes.is_inexact(dtype) else dtypes.float0
    assert dtypes.tangent_dtype(dtype) == expected


def test_float0_has_no_bytes():
    assert dtypes.float0.itemsize == 0
    assert np.zeros((3,), dtypes.float0).nbytes == 0
    assert dtypes.as_dtype("float0") is dtypes.float0


def test_issubdtype_agrees_with_numpy_where_numpy_knows_the_dtype():
    known = [d for d in DTYPES if d.isbuiltin == 1]
    kinds = [
        np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact,
        np.floating, np.complexfloating, np.bool_, np.float32, np.int64,
    ]  # fmt: skip
    for a, b in itertools.product([*known, *kinds], [*known, *kinds]):
        assert dtypes.issubdtype(a, b) == np.issubdtype(a, b), (a, b)


def test_issubdtype_knows_the_kinds_of_the_dtypes_that_numpy_does_not_know():
    assert dtypes.issubdtype(dtypes.bfloat16, np.floating)
    assert dtypes.issubdtype(ml_dtypes.float8_e5m2, np.inexact)
    assert dtypes.issubdtype("int4", np.signedinteger)
    assert not dtypes.issubdtype("uint4", np.signedinteger)
    assert dtypes.issubdtype("bfloat16", ml_dtypes.bfloat16)
    assert not dtypes.issubdtype("bfloat16", "float16")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_limits_match_the_values_of_the_dtype(dtype):
    if dtypes.is_integer(dtype):
        info = dtypes.iinfo(dtype)
        assert info.max == 2 ** (info.bits - dtypes.is_signed(dtype)) - 1
        assert info.min == (-(2 ** (info.bits - 1)) if dtypes.is_signed(dtype) else 0)
        with pytest.raises(DTypeError, match="use iinfo for integers"):
            dtypes.finfo(dtype)
    elif dtypes.is_inexact(dtype):
        real = np.zeros(1, dtype).real.dtype if dtypes.is_complex(dtype) else dtype
        info = dtypes.finfo(dtype)
        assert info.dtype == real
        one = np.ones((), real)
        # The next number after one, which every format but the one without a mantissa has.
        assert np.asarray(float(one) + float(info.eps), real) > one
        with pytest.raises(DTypeError, match="use finfo for floats"):
            dtypes.iinfo(dtype)
    else:
        for limits in (dtypes.iinfo, dtypes.finfo):
            with pytest.raises(DTypeError, match="dtype=bool has no"):
                limits(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, ml_dtypes.bfloat16])
def test_limits_of_floats_are_those_of_the_dtype_of_an_array(dtype: Any) -> None:
    for x in (np.ones(2, dtype), as_concrete(np.ones((), dtype))):
        assert dtypes.finfo(x).eps == dtypes.finfo(dtype).eps
    assert dtypes.finfo(1.0).dtype == np.float32
    with pytest.raises(DTypeError):
        dtypes.iinfo(np.ones(2, dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, ml_dtypes.int4])
def test_limits_of_integers_are_those_of_the_dtype_of_an_array(dtype: Any) -> None:
    for x in (np.ones(2, dtype), as_concrete(np.ones((), dtype))):
        assert dtypes.iinfo(x).max == dtypes.iinfo(dtype).max
    assert dtypes.iinfo(5).dtype == np.int32


class Colour(dtypes.ExtendedDType):
    """Three bytes of red, green and blue, stored as one number."""

    __slots__ = ()

    name = "colour"
    storage = dtypes.uint32
    reading = "bitcast them to uint32"

    def __eq__(self, other: object) -> bool:
        return type(other) is Colour

    def __hash__(self) -> int:
        return hash(Colour)


def test_an_extended_dtype_of_anyone_has_arrays_whose_elements_are_moved() -> None:
    bits = np.array([0xFF0000, 0x00FF00, 0x0000FF], np.uint32)
    colours = lax.bitcast_convert_type(bits, Colour())

    assert str(colours.aval) == "colour[3]"
    assert colours.nbytes == 12
    back = lax.bitcast_convert_type(lax.rev(colours, (0,)), "uint32")
    np.testing.assert_array_equal(back, bits[::-1])
    np.testing.assert_array_equal(colours == colours[1], [False, True, False])
    assert lax.bitcast_convert_type(colours, "uint8").shape == (3, 4)
    with pytest.raises(DTypeError, match=r"no numbers; bitcast them to uint32"):
        np.asarray(colours)
    with pytest.raises(DTypeError, match="colour"):
        lax.add(colours, colours)
    with pytest.raises(DTypeError, match="do not mix"):
        colours + 1
