"""Products, einsum and norms against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import axonym_numpy as anp
from axonym_core import ShapeDtypeStruct, make_jaxpr
from axonym_core.errors import AxisNameError, ShapeError
from axonym_numpy.errors import ArgumentError

F32 = np.float32
INF = np.inf
rng = np.random.default_rng(0)


def draw(*shape, dtype=F32):
    return rng.normal(size=shape).astype(dtype)


SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))]
SHAPES += [((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)), ((0, 3), (3, 4))]
SHAPES += [((2, 0), (0, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,))]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_and_dot_agree_with_numpy(same, a, b):
    x, y = draw(*a), draw(*b)
    same(anp.matmul(x, y), np.matmul(x, y), rtol=1e-5, atol=1e-6, dtype=F32)
    same(anp.matmul(x, y, precision="highest"), np.matmul(x, y), rtol=1e-5, atol=1e-6)
    same(anp.dot(x, y), np.dot(x, y), rtol=1e-5, atol=1e-6)
    wide = anp.matmul(x, y, preferred_element_type="float64")
    assert wide.dtype == np.float64


def test_products_take_integers_truth_values_and_mixtures(same):
    x, y = np.array([[1, 2], [3, 4]], np.int8), np.array([[1, 0], [1, 1]], np.int16)
    same(anp.matmul(x, y), x @ y, dtype=np.int16)
    k = np.array([[True, False], [True, True]])
    same(anp.matmul(k, k), k @ k, dtype=bool)
    same(anp.dot(k, k), np.dot(k, k), dtype=bool)
    same(anp.einsum("ij,jk->ik", k, k), k @ k, dtype=bool)
    same(anp.tensordot(k, k, 1), k @ k, dtype=bool)
    assert anp.matmul(x, np.ones((2, 2), np.float16)).dtype == np.float16
    same(anp.dot(2.0, x), 2.0 * x)
    same(anp.inner(x, 3), 3 * x)


def test_other_products_agree_with_numpy(same):
    x, y = draw(2, 3), draw(4, 3)
    z = draw(2, 3) + 1j * draw(2, 3)
    same(anp.inner(x, y), np.inner(x, y), rtol=1e-5, atol=1e-6)
    same(anp.outer(x, y), np.outer(x, y))
    same(anp.vdot(z, x), np.vdot(z, x), rtol=1e-5)
    for axes in (0, 1, ([0], [0]), ((1, 0), (0, 1)), (-1, 1)):
        a, b = (draw(3, 4), draw(4, 3)) if axes == ((1, 0), (0, 1)) else (draw(3, 3), draw(3, 3))
        same(anp.tensordot(a, b, axes), np.tensordot(a, b, axes), rtol=1e-5, atol=1e-6)
    for a, b in ((x, y), (x[0], y), (x, np.float32(2)), (draw(2, 2, 2), x)):
        same(anp.kron(a, b), np.kron(a, b))
    u, v = draw(5, 3), draw(3)
    same(anp.cross(u, v), np.cross(u, v), rtol=1e-5, atol=1e-6)
    same(anp.cross(u.T, u.T, axis=0), np.cross(u.T, u.T, axis=0), atol=1e-6)
    same(anp.linalg.cross(u, u[::-1]), np.cross(u, u[::-1]), atol=1e-6)
    flat = u[:, :2]
    same(anp.cross(flat, flat[::-1]), flat[:, 0] * flat[::-1, 1] - flat[:, 1] * flat[::-1, 0])
    with np.errstate(all="ignore"):
        lifted = np.concatenate([flat, np.zeros((5, 1), F32)], 1)
    same(anp.cross(flat, u), np.cross(lifted, u), atol=1e-6)
    same(anp.cross(u, flat), np.cross(u, lifted), atol=1e-6)
    same(anp.vecdot(z, x), np.vecdot(z, x), rtol=1e-5)
    same(anp.vecdot(x, y[:2], axis=0), np.vecdot(x, y[:2], axis=0), rtol=1e-5)
    m = draw(5, 2, 3)
    same(anp.matvec(m, v), m @ v, rtol=1e-5, atol=1e-6)
    same(anp.vecmat(z[0, :2], m), np.einsum("n,bnm->bm", z[0, :2].conj(), m), rtol=1e-5, atol=1e-6)


def test_product_errors_say_what_was_given():
    with pytest.raises(ShapeError, match="matmul"):
        anp.matmul(draw(2, 3), draw(2, 3))
    with pytest.raises(ShapeError, match="matmul"):
        anp.matmul(2.0, draw(3))
    with pytest.raises(ShapeError, match=r"dot: .*f32\[2,3\]"):
        anp.dot(draw(2, 3), draw(2, 3))
    with pytest.raises(ShapeError, match="tensordot: axes=1"):
        anp.tensordot(draw(2, 3), draw(2, 3), 1)
    with pytest.raises(ShapeError, match="tensordot: axes=3"):
        anp.tensordot(draw(2, 3), draw(2, 3), 3)
    with pytest.raises(ShapeError, match="vdot"):
        anp.vdot(draw(2), draw(3))
    with pytest.raises(ShapeError, match="components"):
        anp.cross(draw(4), draw(4))
    with pytest.raises(TypeError, match="matmul"):
        anp.matmul([[1.0]], draw(1, 1))
    with pytest.raises(AxisNameError, match="'batch'"):
        anp.matmul(draw(2, 3), draw(3), axis_names="batch")


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ji,kj->ik", (3, 2), (4, 3)),
    ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)),
    ("bhqk,bkhd->bqhd", (2, 4, 3, 6), (2, 6, 4, 5)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,i->i", (3,), (3,)),
    ("i,j->ij", (3,), (4,)),
    ("i,j->ji", (3,), (4,)),
    ("bij,b->bij", (2, 3, 4), (2,)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iijj->", (2, 2, 3, 3)),
    ("ij->ji", (2, 3)),
    ("ji", (2, 3)),
    ("ij->", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (6, 3, 4)),
    ("...,...", (2, 3), (3,)),
    ("i...->...i", (2, 3, 4)),
    ("...i,i...->...", (2, 3), (3, 2)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("i,i,i->", (3,), (3,), (3,)),
    ("ij,i,j->", (2, 3), (2,), (3,)),
    ("ij,jk,kl,lm,mi->", (2, 3), (3, 2), (2, 4), (4, 3), (3, 2)),
    ("ij,jj->i", (2, 3), (3, 3)),
    (",ij->ij", (), (2, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,ij->ij", (1, 3), (2, 1)),
    ("i j , j k -> i k", (2, 3), (3, 4)),
    ("ij,jk->ik", (0, 3), (3, 0)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("Ab,bC->AC", (2, 3), (3, 2)),
]


@pytest.mark.parametrize("case", EINSUMS, ids=str)
def test_einsum_agrees_with_numpy(same, case):
    subscripts, *shapes = case
    xs = [draw(*s) for s in shapes]
    want = np.einsum(subscripts, *[x.astype(float) for x in xs])
    same(anp.einsum(subscripts, *xs), want, rtol=1e-4, atol=1e-5, dtype=F32)
    if len(xs) > 2:
        same(anp.einsum(subscripts, *xs, optimize=False), want, rtol=1e-4, atol=1e-5)
        same(anp.einsum(subscripts, *xs, optimize="optimal"), want, rtol=1e-4, atol=1e-5)


def test_einsum_takes_numbered_dimensions(same):
    x, y = draw(2, 3), draw(3, 4)
    same(
        anp.einsum(x, [0, 1], y, [1, 2], [2, 0]), np.einsum(x, [0, 1], y, [1, 2], [2, 0]), rtol=1e-5
    )
    same(anp.einsum(x, [0, 1], y, [1, 2]), x @ y, rtol=1e-5, atol=1e-6)


def test_two_operands_become_one_contraction():
    jaxpr = make_jaxpr(lambda a, b: anp.einsum("bqhd,bkhd->bhqk", a, b))(
        draw(2, 3, 4, 5), draw(2, 6, 4, 5)
    )
    assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"]
    swapped = make_jaxpr(lambda a, b: anp.einsum("ij,jk->ki", a, b))(draw(2, 3), draw(3, 4))
    assert [e.primitive.name for e in swapped.eqns] == ["dot_general"]


def test_named_axes_are_summed_in_the_contraction():
    x = ShapeDtypeStruct((3,), "float32", named_shape={"batch": 8})
    w = ShapeDtypeStruct((3, 4), "float32")
    for f in (
        lambda x, w: anp.einsum("i,ij->j", x, w, axis_names="batch"),
        lambda x, w: anp.matmul(x, w, axis_names=("batch",)),
        lambda x, w: anp.dot(x, w, axis_names="batch"),
        lambda x, w: anp.tensordot(x, w, 1, axis_names="batch"),
    ):
        jaxpr = make_jaxpr(f, axis_env=[("batch", 8)])(x, w)
        assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"]
        assert jaxpr.eqns[0].params["axis_names"] == ("batch",)
        assert jaxpr.out_avals[0].named == ()
        assert jaxpr.out_avals[0].shape == (4,)
    single = make_jaxpr(
        lambda x: anp.einsum("i->i", x, axis_names="batch"), axis_env=[("batch", 8)]
    )(x)
    assert [e.primitive.name for e in single.eqns] == ["reduce_sum"]
    assert single.out_avals[0].named == ()


def test_einsum_errors_say_what_is_wrong():
    x = draw(2, 3)
    for subscripts, why in (
        ("ij,jk->ik", "2 terms for 1 operands"),
        ("i->i", "1 letters for an operand of 2 dimensions"),
        ("ij->ii", "twice"),
        ("ij->k", "in no operand"),
        ("i1->i", "no letter"),
        ("...->", "the result has not"),
    ):
        with pytest.raises(ArgumentError, match=why):
            anp.einsum(subscripts, x)
    with pytest.raises(ShapeError, match=r"'j'.*sizes 3 and 2"):
        anp.einsum("ij,jk->ik", x, x)
    with pytest.raises(ArgumentError, match="without operands"):
        anp.einsum("ij")


def test_einsum_path_tells_the_order():
    x = draw(2, 2)
    path, report = anp.einsum_path("ij,jk,kl->il", x, x, x)
    assert path == [(0, 1), (0, 1)]
    assert "FLOP" in report


@settings(max_examples=50)
@given(st.data())
def test_any_einsum_of_two_operands_agrees(data):
    labels = st.lists(st.sampled_from("abcd"), min_size=0, max_size=3)
    left, right = data.draw(labels), data.draw(labels)
    every = sorted({*left, *right})
    out = data.draw(st.permutations(every))[: data.draw(st.integers(0, len(every)))]
    sizes = {"a": 2, "b": 3, "c": 1, "d": 2}
    x = np.arange(1, 1 + np.prod([sizes[v] for v in left], dtype=int)).reshape(
        [sizes[v] for v in left]
    )
    y = np.arange(1, 1 + np.prod([sizes[v] for v in right], dtype=int)).reshape(
        [sizes[v] for v in right]
    )
    subscripts = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    np.testing.assert_array_equal(
        np.asarray(anp.einsum(subscripts, x, y)), np.einsum(subscripts, x, y)
    )


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, 0, INF, -INF, -1, -2])
def test_vector_norms_agree_with_numpy(same, ord):
    x = draw(3, 4)
    for axis in (0, 1, -1):
        same(anp.linalg.norm(x, ord, axis), np.linalg.norm(x, ord, axis), rtol=1e-5)
        same(anp.linalg.norm(x, ord, axis, True), np.linalg.norm(x, ord, axis, True), rtol=1e-5)
    same(anp.linalg.norm(x[0], ord), np.linalg.norm(x[0], ord), rtol=1e-5)
    z = x[0] + 1j * x[1]
    same(anp.linalg.norm(z, ord), np.linalg.norm(z, ord), rtol=1e-5)
    same(anp.linalg.norm(np.array([3, 4]), ord), np.linalg.norm(np.array([3, 4]), ord), rtol=1e-5)
    if ord is not None:
        same(anp.linalg.vector_norm(x, ord=ord), np.linalg.vector_norm(x, ord=ord), rtol=1e-5)


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, INF, -INF])
def test_matrix_norms_agree_with_numpy(same, ord):
    x = draw(2, 3, 4)
    for axis in ((0, 1), (2, 0), (-1, -2)):
        same(anp.linalg.norm(x, ord, axis), np.linalg.norm(x, ord, axis), rtol=1e-5)
        same(anp.linalg.norm(x, ord, axis, True), np.linalg.norm(x, ord, axis, True), rtol=1e-5)
    same(anp.linalg.norm(x[0], ord), np.linalg.norm(x[0], ord), rtol=1e-5)


def test_norms_of_nothing_are_zero_and_unknown_ones_are_refused(same):
    m = anp.zeros((0, 3))
    same(anp.linalg.norm(m), 0)
    same(anp.linalg.norm(m, ord=2), 0)
    same(anp.linalg.norm(np.zeros(0, F32), INF), 0)
    with pytest.raises(ArgumentError, match="ord=2"):
        anp.linalg.norm(draw(2, 2), 2)
    with pytest.raises(ArgumentError, match="nuc"):
        anp.linalg.norm(draw(2, 2), "nuc")
    with pytest.raises(ShapeError, match="axis"):
        anp.linalg.norm(draw(2, 2, 2), 1)
    with pytest.raises(ShapeError, match="for matrices"):
        anp.linalg.norm(draw(2), "fro")


def test_matrix_functions_agree_with_numpy(same):
    x = draw(2, 3, 3)
    for n in (0, 1, 2, 3, 7):
        same(anp.linalg.matrix_power(x, n), np.linalg.matrix_power(x, n), rtol=1e-4, atol=1e-5)
    chain = [draw(2, 5), draw(5, 3), draw(3, 4), draw(4)]
    same(anp.linalg.multi_dot(chain), np.linalg.multi_dot(chain), rtol=1e-4, atol=1e-5)
    same(anp.linalg.multi_dot(chain[:2]), chain[0] @ chain[1], rtol=1e-4, atol=1e-5)
    same(anp.linalg.diagonal(x, offset=1), np.linalg.diagonal(x, offset=1))
    same(anp.linalg.trace(x), np.linalg.trace(x), rtol=1e-5)
    same(anp.linalg.matrix_norm(x), np.linalg.matrix_norm(x), rtol=1e-5)
    with pytest.raises(ShapeError, match="square"):
        anp.linalg.matrix_power(draw(2, 3), 2)
    with pytest.raises(ArgumentError, match="n=-1"):
        anp.linalg.matrix_power(x, -1)
    with pytest.raises(ShapeError, match="arrays"):
        anp.linalg.multi_dot([draw(2, 2), draw(2), draw(2, 2)])
