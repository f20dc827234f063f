"""Neural network functions against their definitions in double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import make_jaxpr
from axonym_core.errors import DTypeError, ShapeError
from axonym_numpy import nn
from axonym_numpy.errors import ArgumentError

F32 = np.float32
NAN, INF = np.nan, np.inf
X = np.array([-300.0, -5.0, -1.0, -0.25, 0.0, 0.25, 1.0, 5.0, 300.0], F32)
erf = np.vectorize(math.erf)


def logistic(x):
    return 0.5 * (1 + np.tanh(x / 2))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def below(x):
    return np.expm1(np.minimum(x, 0))


DEFINITIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "sigmoid": logistic,
    "log_sigmoid": lambda x: -softplus(-x),
    "softplus": softplus,
    "silu": lambda x: x * logistic(x),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "elu": lambda x: np.where(x > 0, x, below(x)),
    "celu": lambda x: np.where(x > 0, x, below(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * below(x)),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "squareplus": lambda x: 0.5 * (x + np.sqrt(x * x + 4)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_activations_are_what_they_are_defined_to_be(same, name):
    f = getattr(nn, name)
    same(f(X), DEFINITIONS[name](X.astype(float)), rtol=2e-5, atol=2e-7, dtype=F32)
    assert f(X[:0]).shape == (0,)
    assert f(1.0).weak_type
    assert f(X.astype(np.float16)).dtype == np.float16
    assert f(anp.bfloat16(1)).dtype == anp.bfloat16
    whole = f(np.array([1, -2], np.int32))
    assert whole.dtype == (np.int32 if name in ("relu", "relu6", "hard_tanh") else F32)
    assert np.isnan(np.asarray(f(np.array([NAN], F32))))


def test_activations_take_their_parameters(same):
    x = X.astype(float)
    same(nn.gelu(X, approximate=False), 0.5 * x * (1 + erf(x / 2**0.5)), rtol=2e-4, atol=2e-6)
    same(nn.leaky_relu(X, 0.5), np.where(x > 0, x, 0.5 * x))
    same(nn.elu(X, 2.0), np.where(x > 0, x, 2 * below(x)), rtol=1e-5)
    same(nn.celu(X, 2.0), np.where(x > 0, x, 2 * below(x / 2)), rtol=1e-5)
    same(nn.squareplus(X, 1.0), 0.5 * (x + np.sqrt(x * x + 1)), atol=1e-3)
    pair = np.stack([X, X[::-1]])
    same(nn.glu(pair, axis=0), pair[:1] * logistic(pair[1:].astype(float)), rtol=1e-5)
    assert nn.swish is nn.silu
    assert nn.hard_swish is nn.hard_silu
    with pytest.raises(ShapeError, match="odd"):
        nn.glu(np.ones(3))
    for name in ("relu", "gelu", "softmax", "logsumexp", "elu"):
        with pytest.raises(DTypeError, match=f"{name}.*c64"):
            getattr(nn, name)(np.ones(2, np.complex64))


def shares(x, axis, where=None):
    x = x.astype(float)
    top = np.max(x, axis, keepdims=True, initial=-1e30, where=True if where is None else where)
    e = np.exp(x - top) * (1 if where is None else where)
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), None])
def test_softmax_is_shares_of_exponentials(same, axis):
    x = np.array([[1.0, 2.0, -INF], [1000.0, 999.0, -1000.0]], F32)
    axes = (0, 1) if axis is None else axis
    with np.errstate(all="ignore"):
        want = shares(x, axes)
        same(nn.softmax(x, axis), np.nan_to_num(want), rtol=1e-5)
        same(np.exp(np.asarray(nn.log_softmax(x, axis))), np.nan_to_num(want), rtol=1e-4)
    k = np.array([[True, False, True], [True, True, True]])
    with np.errstate(all="ignore"):
        want = np.nan_to_num(shares(x, axes, k))
    same(nn.softmax(x, axis, where=k), want, rtol=1e-5)


def test_rows_without_mass_have_softmax_zero(same):
    x = np.array([[-INF, -INF], [0.0, 0.0]], F32)
    same(nn.softmax(x), [[0, 0], [0.5, 0.5]])
    same(nn.softmax(x, where=np.array([[True, True], [False, False]])), np.zeros((2, 2)))
    same(nn.logsumexp(x, 1), [-INF, math.log(2)])
    same(nn.log_softmax(x)[0], [-INF, -INF])
    assert nn.softmax(np.zeros((3, 0), F32)).shape == (3, 0)
    assert np.isnan(np.asarray(nn.softmax(np.array([NAN, 1.0], F32)))).all()


def test_logsumexp_is_what_it_says(same):
    x = np.array([[1.0, 2.0, -INF], [1000.0, 999.0, -1000.0]], F32)
    want = np.logaddexp.reduce(x.astype(float), 1)
    same(nn.logsumexp(x, 1), want)
    same(nn.logsumexp(x, 1, keepdims=True), want[:, None])
    same(nn.logsumexp(x), np.logaddexp.reduce(want))
    same(nn.logsumexp(np.array([INF, 1.0], F32)), INF)
    same(nn.logsumexp(np.zeros((0,), F32)), -INF)
    same(nn.logsumexp(x, 1, where=np.array([True, False, True])), [1, 1000])
    b = np.array([2.0, -1.0, 0.0], F32)
    same(nn.logsumexp(x[0], b=b), NAN)
    value, sign = nn.logsumexp(x[0], b=b, return_sign=True)
    same(value, math.log(math.e**2 - 2 * math.e), rtol=1e-5)
    same(sign, -1)
    same(nn.logsumexp(np.array([INF, 1.0]), b=np.array([0.0, 1.0])), 1)
    same(nn.logmeanexp(x, 1), want - math.log(3))
    same(
        nn.logmeanexp(x, 1, where=np.array([True, False, True])),
        [1 - math.log(2), 1000 - math.log(2)],
    )
    assert nn.logsumexp(np.array([1, 2])).dtype == F32


def test_standardized_rows_have_mean_zero_and_variance_one(same):
    x = np.random.default_rng(0).normal(3, 5, (4, 6)).astype(F32)
    out = np.asarray(nn.standardize(x, axis=1, epsilon=0.0))
    np.testing.assert_allclose(out.mean(1), 0, atol=1e-6)
    np.testing.assert_allclose(out.std(1), 1, rtol=1e-5)
    same(nn.standardize(x, mean=1.0, variance=4.0, epsilon=0.0), (x - 1) / 2, rtol=1e-5)
    same(nn.standardize(np.full((1, 3), 7.0, F32)), np.zeros((1, 3)))
    assert nn.normalize is nn.standardize
    with pytest.raises(ShapeError, match="mean"):
        nn.standardize(x, mean=np.ones(5))


def test_one_hot_marks_positions(same):
    labels = np.array([[0, 2], [5, -1]])
    same(nn.one_hot(labels, 3), np.eye(3)[[[0, 2], [0, 0]]] * [[[1], [1]], [[0], [0]]], dtype=F32)
    same(nn.one_hot(np.array([1, 0]), 2, axis=0), [[0, 1], [1, 0]])
    same(nn.one_hot(np.uint8(1), 300).sum(), 1)
    assert nn.one_hot(1, 0).shape == (0,)
    assert nn.one_hot(np.array([1]), 3, dtype=bool).dtype == bool
    with pytest.raises(ArgumentError, match="num_classes=-1"):
        nn.one_hot(1, -1)
    with pytest.raises(DTypeError, match="bool"):
        nn.one_hot(True, 2)


def attention(q, k, v, mask=None, bias=0):
    groups = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, groups, 2), np.repeat(v, groups, 2)
    logits = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1]) + bias
    weights = np.exp(logits) * (1 if mask is None else mask)
    weights = weights / weights.sum(-1, keepdims=True)
    return np.einsum("bhts,bshd->bthd", weights, v)


def test_attention_is_a_weighted_mean_of_values(same):
    rng = np.random.default_rng(0)
    q = rng.normal(size=(2, 3, 4, 5)).astype(F32)
    k, v = rng.normal(size=(2, 2, 6, 2, 5)).astype(F32)
    same(nn.dot_product_attention(q, k, v), attention(q, k, v), rtol=1e-4, atol=1e-5)
    causal = np.tri(3, 6, dtype=bool)
    got = nn.dot_product_attention(q, k, v, is_causal=True)
    same(got, attention(q, k, v, causal), rtol=1e-4, atol=1e-5)
    bias = rng.normal(size=(4, 3, 6)).astype(F32)
    mask = rng.random((2, 1, 3, 6)) > 0.3
    got = nn.dot_product_attention(q, k, v, bias, mask)
    same(got, attention(q, k, v, mask, bias), rtol=1e-4, atol=1e-5)
    same(nn.dot_product_attention(q[0], k[0], v[0]), attention(q, k, v)[0], rtol=1e-4, atol=1e-5)
    empty = nn.dot_product_attention(q, k, v, mask=np.zeros((1, 1, 1, 6), bool))
    same(empty, np.zeros_like(q))
    with pytest.raises(ShapeError, match="heads"):
        nn.dot_product_attention(q, k[:, :, :1].repeat(3, 2), v[:, :, :1].repeat(3, 2))
    with pytest.raises(DTypeError, match="mask"):
        nn.dot_product_attention(q, k, v, mask=np.ones((3, 6)))


def test_a_traced_program_is_as_short_as_it_can_be():
    relu = make_jaxpr(nn.relu)(X)
    assert [e.primitive.name for e in relu.eqns] == ["le", "select_n"]
    silu = make_jaxpr(nn.silu)(X)
    assert [e.primitive.name for e in silu.eqns] == ["logistic", "mul"]
    assert len(make_jaxpr(nn.softmax)(X[None]).eqns) <= 16
