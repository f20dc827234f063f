"""Special functions against the standard library and their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core.errors import DTypeError
from axonym_numpy import special

F32 = np.float32
NAN, INF = np.nan, np.inf
X = np.array([-3.0, -0.5, 0.0, 0.25, 1.0, 4.0], F32)


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("erf", math.erf),
        ("erfc", math.erfc),
        ("expit", lambda x: 1 / (1 + math.exp(-x))),
        ("log_expit", lambda x: -math.log1p(math.exp(-x))),
        ("ndtr", lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
        ("log_ndtr", lambda x: math.log(0.5 * math.erfc(-x / math.sqrt(2)))),
        ("exp2", lambda x: 2**x),
        ("expm1", math.expm1),
    ],
)
def test_functions_agree_with_the_standard_library(same, name, definition):
    want = [definition(float(x)) for x in X]
    same(getattr(special, name)(X), want, rtol=2e-5)
    assert getattr(special, name)(np.array([1], np.int8)).dtype == F32


def test_functions_of_positive_numbers(same):
    x = np.array([0.3, 1.0, 2.5, 7.0], F32)
    same(special.gammaln(x), [math.lgamma(v) for v in x], rtol=1e-5, atol=1e-6)
    step = 1e-5
    slope = [(math.lgamma(v + step) - math.lgamma(v - step)) / (2 * step) for v in x.astype(float)]
    same(special.digamma(x), slope, rtol=1e-4, atol=1e-5)
    same(special.polygamma(1, 1.0), math.pi**2 / 6, rtol=1e-5)
    assert special.psi is special.digamma


def test_inverses_undo(same):
    p = np.array([0.01, 0.3, 0.5, 0.9], F32)
    same(special.expit(special.logit(p)), p, rtol=1e-5)
    same(special.erf(special.erfinv(p)), p, rtol=1e-5)
    same(special.logit(np.array([0.0, 1.0], F32)), [-INF, INF])


@pytest.mark.parametrize("dtype", [F32, np.float64])
def test_tails_of_log_ndtr_are_exact(same, dtype):
    x = np.array([-1e3, -100.0, -20.0, -13.5, -6.0, -5.0, -4.5, 2.9, 3.1, 8.0], dtype)
    want = []
    for v in x.astype(float):
        p = 0.5 * math.erfc(-v / math.sqrt(2))
        if v > 3:
            want.append(math.log1p(-0.5 * math.erfc(v / math.sqrt(2))))
        elif p > 1e-300:
            want.append(math.log(p))
        else:
            want.append(-0.5 * v * v - math.log(-v) - 0.5 * math.log(2 * math.pi) - v**-2)
    same(special.log_ndtr(x), want, rtol=2e-6 if dtype == F32 else 1e-9, atol=0)


def test_products_with_logarithms_vanish_with_their_factor(same):
    x, y = np.array([0.0, 0.0, 2.0, 0.0], F32), np.array([0.0, INF, 3.0, NAN], F32)
    same(special.xlogy(x, y), [0, 0, 2 * math.log(3), NAN])
    same(special.xlog1py(x, y - 1), [0, 0, 2 * math.log(3), NAN], rtol=1e-5)
    same(special.entr(np.array([-1.0, 0.0, 0.5, NAN], F32)), [-INF, 0, -0.5 * math.log(0.5), NAN])


def test_relative_entropies_agree_with_their_definition(same):
    p = np.array([0.0, 0.5, 0.5, -1.0, 0.0, NAN], F32)
    q = np.array([0.5, 0.25, 0.0, 0.5, 0.0, 1.0], F32)
    same(special.rel_entr(p, q), [0, 0.5 * math.log(2), INF, INF, 0, NAN])
    same(special.kl_div(p, q), [0.5, 0.5 * math.log(2) - 0.25, INF, INF, 0, NAN])


def test_softmax_goes_over_all_dimensions_as_scipys_does(same):
    x = np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5]], F32)
    powers = np.exp(x)
    same(special.softmax(x), powers / powers.sum(), rtol=1e-6)
    same(special.log_softmax(x), x - np.log(powers.sum()), rtol=1e-6)
    same(special.softmax(x, 0), powers / powers.sum(0), rtol=1e-6)
    same(special.log_softmax(x, 1), x - np.log(powers.sum(1, keepdims=True)), rtol=1e-6)
    same(anp.nn.softmax(x), powers / powers.sum(1, keepdims=True), rtol=1e-6)


def test_shared_names_are_one_function():
    assert special.logsumexp is anp.nn.logsumexp
    assert special.sinc is anp.sinc
    with pytest.raises(DTypeError):
        special.erf(1j)
