"""Operands meet in one dtype and one shape; numbers stay numbers and rank 0 stays rank 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core.arrays import as_concrete
from axonym_core.errors import DTypeError, ShapeError
from axonym_core.operators import (
    broadcast_args,
    is_arraylike,
    match_scalars,
    number_like,
    promote_args,
    promote_args_inexact,
    promote_dtypes,
    promote_dtypes_inexact,
    scalar_of,
)
from axonym_core.settings import config
from axonym_core.types import ShapedArray, aval_of


@pytest.fixture(autouse=True)
def _numpy_backend() -> Iterator[None]:
    with config.override(backend="numpy"):
        yield


def weak(value: Any) -> Any:
    from axonym_core import lax

    return lax.add(value, type(value)(0))


def types(values: list[Any]) -> list[str]:
    return [repr(aval_of(v)) for v in values]


def test_operands_of_one_type_pass_untouched() -> None:
    x, y = as_concrete(np.ones(3)), as_concrete(np.zeros(3))

    out = promote_args("add", x, y)

    assert out[0] is x
    assert out[1] is y


def test_a_python_number_becomes_a_numpy_scalar_of_the_arrays_dtype() -> None:
    x = as_concrete(np.ones(3, ml_dtypes.bfloat16))

    _, y = promote_args("add", x, 2)

    assert type(y) is ml_dtypes.bfloat16
    assert y == 2


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((np.ones(2, np.float32), 1.5), ["f32[2]", "f32[]"]),
        ((np.ones(2, np.int8), 1.5), ["~f32[2]", "~f32[]"]),
        ((np.ones(2, np.int8), np.ones(2, np.uint8)), ["i16[2]", "i16[2]"]),
        ((np.ones(2, np.float32), np.float64(1.5)), ["f32[2]", "f32[]"]),
        ((np.ones(2, np.float32), np.array([1.5])), ["f64[2]", "f64[2]"]),
        ((np.ones(2, np.float16), np.float32(1.5)), ["f32[2]", "f32[]"]),
        ((1, 2.0), ["~f32[]", "~f32[]"]),
        ((True, 2), ["~i32[]", "~i32[]"]),
        ((np.ones(2, bool), 2), ["~i32[2]", "~i32[]"]),
        ((np.ones(2, np.float32), 1j), ["c64[2]", "c64[]"]),
    ],
)
def test_dtypes_meet_in_the_lattice(args: tuple[Any, ...], expected: list[str]) -> None:
    assert types(promote_args("add", *args)) == expected


def test_a_weak_array_gives_way_and_two_stay_weak() -> None:
    w = weak(1.5)

    assert types(promote_dtypes("add", w, np.ones(2, np.float16))) == ["f16[]", "f16[2]"]
    assert types(promote_dtypes("add", w, 2)) == ["~f32[]", "~f32[]"]
    assert promote_dtypes("add", w, np.float32(1))[0] is w


def test_default_dtypes_follow_the_settings() -> None:
    with config.override(default_float_bits=64):
        assert types(promote_dtypes_inexact("exp", np.int32(1), 2)) == ["f64[]", "f64[]"]
        assert types(promote_dtypes("add", 1, 2.0)) == ["~f64[]", "~f64[]"]


def test_inexact_promotion_turns_integers_into_default_floats() -> None:
    assert types(promote_args_inexact("exp", np.ones(2, np.int64))) == ["f32[2]"]
    assert types(promote_args_inexact("exp", np.ones(2, bool), True)) == ["f32[2]", "f32[]"]
    assert types(promote_args_inexact("exp", np.ones(2, np.float16), 1)) == ["f16[2]", "f16[]"]
    assert types(promote_args_inexact("exp", 1)) == ["~f32[]"]


def test_shapes_broadcast_and_rank_0_does_not() -> None:
    a, b, c = broadcast_args("f", np.ones((3, 1)), np.ones(4), np.float64(2))

    assert (aval_of(a).shape, aval_of(b).shape, aval_of(c).shape) == ((3, 4), (3, 4), ())
    np.testing.assert_array_equal(np.asarray(b), np.ones((3, 4)))
    assert aval_of(broadcast_args("f", np.ones((0, 1)), np.ones((1, 3)))[1]).shape == (0, 3)


def test_messages_name_the_function_and_the_argument() -> None:
    with pytest.raises(ShapeError, match=r"subtract: operands of shapes \(3,\), \(4,\)"):
        promote_args("subtract", np.ones(3), np.ones(4))
    with pytest.raises(TypeError, match="multiply: argument 1 is a list"):
        promote_args("multiply", np.ones(3), [1, 2, 3])
    with pytest.raises(DTypeError, match="float8_e4m3fn and float8_e5m2 have no common dtype"):
        promote_args("add", np.ones(3, ml_dtypes.float8_e4m3fn), np.ones(3, ml_dtypes.float8_e5m2))
    with pytest.raises(DTypeError, match="the integer 300 does not fit uint8"):
        promote_args("add", np.ones(3, np.uint8), 300)


def test_scalars_round_to_the_dtype_without_a_warning() -> None:
    assert np.isinf(scalar_of(1e10, np.dtype(np.float16)))
    assert np.isinf(scalar_of(-(10**400), np.dtype(np.float32)))
    assert np.isnan(scalar_of(float("nan"), np.dtype(np.float32)))
    assert scalar_of(2**63, np.dtype(np.uint64)) == 2**63
    assert scalar_of(True, np.dtype(ml_dtypes.int4)) == 1
    assert scalar_of(1, np.dtype(np.complex64)) == 1
    assert np.signbit(scalar_of(-0.0, np.dtype(np.float32)))


def test_number_like_is_as_weak_as_the_array() -> None:
    assert types([number_like(1, ShapedArray((2,), np.float16))]) == ["f16[]"]
    assert types([number_like(1, ShapedArray((2,), np.float32, True))]) == ["~f32[]"]
    assert types([number_like(1, ShapedArray((2,), np.float64, True))]) == ["~f64[]"]


def test_match_scalars_leaves_arrays_of_unlike_dtypes_alone() -> None:
    x, y = np.ones(2, np.float16), np.ones(2, np.float32)

    assert types(match_scalars("add", x, y)) == ["f16[2]", "f32[2]"]
    assert types(match_scalars("clamp", 0, x, np.float64(1))) == ["f16[]", "f16[2]", "f16[]"]
    assert types(match_scalars("add", np.float64(1), 2)) == ["~f32[]", "~f32[]"]
    assert types(match_scalars("add", np.float64(1), 2j)) == ["~c64[]", "~c64[]"]


def test_what_is_an_operand() -> None:
    assert all(map(is_arraylike, (1, True, 2.0, 1j, np.float32(1), np.ones(2), weak(1))))
    assert not any(map(is_arraylike, (None, "1", [1], (1,), {})))
