"""Methods of arrays do what their functions do, on concrete and on traced arrays."""

from __future__ import annotations

import numpy as np
import pytest

import axonym_numpy as anp
from axonym_core import Array, make_jaxpr
from axonym_core.errors import ConcretizationError

F32 = np.float32
X = np.array([[3.0, 1.0, 2.0], [-4.0, 0.0, 5.0]], F32)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("sum", (1,)),
        ("sum", (1, "float64")),
        ("prod", ()),
        ("mean", (0,)),
        ("max", ()),
        ("min", (1,)),
        ("any", ()),
        ("all", (0,)),
        ("argmax", (1,)),
        ("argmin", ()),
        ("std", ()),
        ("var", (1,)),
        ("cumsum", (1,)),
        ("cumprod", (0,)),
        ("reshape", (3, 2)),
        ("reshape", ((3, -1),)),
        ("reshape", (-1,)),
        ("ravel", ()),
        ("flatten", ("F",)),
        ("transpose", ()),
        ("transpose", (1, 0)),
        ("transpose", ((0, 1),)),
        ("swapaxes", (0, 1)),
        ("astype", (np.int8,)),
        ("squeeze", ()),
        ("dot", (X.T,)),
        ("clip", (0, 2)),
        ("round", (1,)),
        ("conj", ()),
        ("copy", ()),
        ("take", (np.array([0, 2]), 1)),
        ("argsort", (1,)),
        ("repeat", (2, 1)),
        ("diagonal", ()),
        ("trace", ()),
        ("searchsorted", (0.5,)),
        ("nonzero", ()),
        ("view", ("int32",)),
    ],
)
def test_methods_agree_with_numpys(same, name, args):
    x = X[0] if name == "searchsorted" else X
    got, want = getattr(anp.asarray(x), name)(*args), getattr(x, name)(*args)
    for a, b in zip(got, want, strict=True) if name == "nonzero" else [(got, want)]:
        same(a, b, rtol=1e-5)
    if name != "nonzero":
        traced = make_jaxpr(lambda v: getattr(v, name)(*args))(x)
        assert traced.out_avals[0].shape == np.shape(want)


def test_sort_returns_a_sorted_copy(same):
    same(anp.asarray(X).sort(), np.sort(X))


def test_properties_agree_with_numpys(same):
    z = X + 1j
    for name in ("T", "mT", "real", "imag"):
        same(getattr(anp.asarray(z), name), getattr(z, name))
    same(anp.asarray(X).flat, X.ravel())
    same(anp.asarray(X).imag, X.imag)
    same(anp.asarray(X).median(), np.median(X))
    same(anp.asarray(X).ptp(1), np.ptp(X, 1))


def test_methods_are_on_every_kind_of_array():
    assert callable(Array.sum)
    jaxpr = make_jaxpr(lambda x: x.T.sum(0, keepdims=True).astype("float64"))(X)
    assert jaxpr.out_avals[0].str_short() == "f64[1,2]"
    with pytest.raises(ConcretizationError):
        make_jaxpr(lambda x: x.nonzero())(X)


def test_views_change_the_width_of_elements(same):
    x = anp.asarray(np.array([1, -2], np.int32))
    same(x.view("int16"), np.asarray(x).view(np.int16))
    assert x.view() is x
