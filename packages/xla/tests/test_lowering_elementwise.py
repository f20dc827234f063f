"""Element-wise operations compute under XLA what they do in NumPy, edges included."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_core.errors import DTypeError, ShapeError
from axonym_core.numpy_backend import backend as numpy_backend
from axonym_core.primitives import elementwise as p
from axonym_core.programs import Primitive
from axonym_core.settings import config
from axonym_core.tracing import trace_flat
from axonym_core.types import aval_of, dtypes
from axonym_xla import backend
from axonym_xla.lowering import lower_jaxpr, lowering_rules

PRIMITIVES: dict[str, Primitive] = {v.name: v for k, v in vars(p).items() if k.endswith("_p")}
DTYPES = [
    np.dtype(d)
    for d in (
        np.bool_,
        np.int8,
        np.uint8,
        np.int32,
        np.uint32,
        np.int64,
        np.float16,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        np.float32,
        np.float64,
        np.complex64,
        np.complex128,
    )
]
WITH_SCALARS = [np.dtype(d) for d in (np.bool_, np.uint32, np.float32, np.complex64)]
_TWO = "add sub mul div rem pow max min atan2 nextafter complex eq ne lt le gt ge and or xor"
OPERANDS = dict.fromkeys(
    f"{_TWO} mul_no_nan shift_left shift_right_arithmetic shift_right_logical polygamma".split(), 2
) | {"select_n": 3, "clamp": 3}
PARAMS: dict[str, list[dict[str, Any]]] = {
    "integer_pow": [{"y": y} for y in (0, 1, 2, 7, -1, -3)],
    "round": [{"rounding_method": m} for m in p.RoundingMethod],
    "convert_element_type": [{"new_dtype": d, "weak_type": False} for d in DTYPES],
    "bitcast_convert_type": [{"new_dtype": d} for d in DTYPES],
}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.5, 1e-3, 100.0, np.inf, -np.inf, np.nan]


def values(name: str, dtype: np.dtype[Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    n = 48
    if dtype == np.bool_:
        return rng.integers(0, 2, n).astype(bool)
    if dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        inner = rng.integers(max(limits.min, -20), 20, n - 4).tolist()
        every = [*inner, limits.min, limits.max, limits.min + 1, limits.max - 1]
        return rng.permutation(np.array(every, dtype))
    if dtypes.is_complex(dtype):
        return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)
    if name == "polygamma":  # defined for integer orders, and steep near its poles
        return rng.integers(1, 4, n).astype(dtype)
    if name == "digamma":  # what it is at 0 differs between versions of the compiler
        return rng.uniform(0.1, 9, n).astype(dtype)
    with np.errstate(all="ignore"):
        drawn = 3 * rng.normal(size=n - len(EDGES))
        return rng.permutation(np.concatenate([EDGES, drawn])).astype(dtype)


def assert_agree(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    if not dtypes.is_inexact(expected.dtype):
        np.testing.assert_array_equal(actual, expected)
        return
    eps = float(dtypes.finfo(expected.dtype).eps)
    wide = np.complex128 if dtypes.is_complex(expected.dtype) else np.float64
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            actual.astype(wide), expected.astype(wide), rtol=20 * eps, atol=20 * eps
        )


Application = tuple[Primitive, list[Any], dict[str, Any]]


def compare(applications: list[Application]) -> None:
    """Run applications of primitives, in one program, on XLA and on NumPy."""
    flat = [x for _, operands, _ in applications for x in operands]

    def program(*args: Any) -> list[Any]:
        rest = iter(args)
        return [
            primitive.bind(*[next(rest) for _ in operands], **params)
            for primitive, operands, params in applications
        ]

    jaxpr = trace_flat(program, [aval_of(x) for x in flat])
    outs = []
    for where in (backend, numpy_backend):
        arrays = [where.from_host(np.asarray(x), aval_of(x)) for x in flat]
        outs.append([np.asarray(out) for out in where.compile(jaxpr)(arrays)])
    for (primitive, operands, params), actual, expected in zip(applications, *outs, strict=True):
        try:
            assert_agree(actual, expected)
        except AssertionError as error:
            types = ", ".join([repr(aval_of(x)) for x in operands])
            error.add_note(f"{primitive} of {types} with {params}")
            raise


def both(primitive: Primitive, operands: list[Any], params: dict[str, Any]) -> None:
    """Run one application on XLA and on NumPy."""
    compare([(primitive, operands, params)])


def applications_of(name: str) -> list[Application]:
    """A primitive applied to arrays of every dtype, and to operands of rank 0 at every position."""
    rng = np.random.default_rng(0)
    primitive = PRIMITIVES[name]
    count = OPERANDS.get(name, 1)
    found: list[Application] = []
    for dtype in DTYPES if name != "polygamma" else [np.dtype(np.float32)]:  # it is slow to compile
        for params in PARAMS.get(name, [{}]):
            full = [values(name, dtype, rng) for _ in range(count)]
            if name == "select_n":
                full[0] = values(name, np.dtype(bool), rng)
            try:
                primitive.out_avals(tuple([aval_of(x) for x in full]), params)
            except (DTypeError, ShapeError):
                continue  # not defined for the dtype
            found.append((primitive, full, params))
            if dtype in WITH_SCALARS and params == PARAMS.get(name, [{}])[0]:
                for k in range(count if count > 1 else 0):
                    mixed = [x if i != k else x[3] for i, x in enumerate(full)]
                    found.append((primitive, mixed, params))
                found.append((primitive, [x[5] for x in full], params))
    return found


@pytest.mark.parametrize("name", PRIMITIVES)
def test_results_equal_those_of_numpy(name: str) -> None:
    applications = applications_of(name)

    assert applications
    compare(applications)


def test_a_number_of_a_case_chooses_among_several() -> None:
    which = np.array([0, 1, 2, 3, -5, 9], np.int32)
    cases = [np.full(6, k, np.float32) for k in (10, 20, 30, 40)]

    both(p.select_n_p, [which, *cases], {})
    both(p.select_n_p, [which, cases[0]], {})
    both(p.select_n_p, [np.int32(2), *cases], {})


def test_integers_to_large_powers_wrap() -> None:
    x = np.array([3, -3, 2, -1, 1, 7, -1], np.int32)
    y = np.array([2**31 - 1, 1001, 40, 2**31 - 1, -7, -2, -3], np.int32)

    both(p.pow_p, [x, y], {})
    both(p.pow_p, [np.uint8(19), np.uint8(255)], {})


@pytest.mark.parametrize("ratio", [2, 4])
def test_bitcasts_divide_and_join_elements(ratio: int) -> None:
    narrow = np.dtype(f"u{4 // ratio}")
    x = np.arange(6, dtype=np.uint32).reshape(2, 3) * 70000

    both(p.bitcast_convert_type_p, [x], {"new_dtype": narrow})
    parts = x.view(narrow).reshape(2, 3, ratio)
    both(p.bitcast_convert_type_p, [parts], {"new_dtype": np.dtype(np.int32)})


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize("name", ["add", "mul", "div", "rem", "max", "population_count", "lt"])
def test_integers_of_4_bits_wrap(name: str, dtype: Any) -> None:
    x = np.array([7, 3, 5, 6, 1]).astype(dtype)
    y = np.array([3, 7, 6, 2, 1]).astype(dtype)

    both(PRIMITIVES[name], [x, y][: OPERANDS.get(name, 1)], {})


def test_identities_leave_no_operation_behind() -> None:
    jaxpr = trace_flat(lambda x: [p.stop_gradient_p.bind(p.copy_p.bind(x))], [aval_of(1.0)])

    assert "stablehlo." not in lower_jaxpr(jaxpr).text


def test_a_number_is_written_as_a_full_constant() -> None:
    jaxpr = trace_flat(
        lambda x: [p.mul_p.bind(x, np.float32(2))], [aval_of(np.ones(3, np.float32))]
    )

    text = lower_jaxpr(jaxpr).text
    assert "broadcast_in_dim" not in text
    assert "dense<0x40000000> : tensor<3xf32>" in text


def test_eager_results_of_both_backends_agree() -> None:
    x = np.linspace(0.1, 2, 7, dtype=np.float32)
    with config.override(backend="xla"):
        compiled = np.asarray(p.erf_inv_p.bind(p.tanh_p.bind(x)))
    with config.override(backend="numpy"):
        plain = np.asarray(p.erf_inv_p.bind(p.tanh_p.bind(x)))

    np.testing.assert_allclose(compiled, plain, rtol=1e-5)


def test_every_element_wise_primitive_has_a_lowering_rule() -> None:
    assert [v.name for v in PRIMITIVES.values() if v not in lowering_rules] == []
