"""Programs from public bug reports about gradients, written anew."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp
from axonym.scipy.special import logsumexp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_slope_in_a_scalar_that_all_rows_share_is_a_scalar() -> None:
    """jax-ml/jax#6452: it came out as a vector.

    Every binary function h used is homogeneous of degree 1 in (b, b*c_i) with h(b, b*c) = b*h(1,
    c), or adds b outright, so the slope in b is the sum of h(1, c_i) (3 for logaddexp).
    """
    c = anp.array([0.5, 2.0, 3.0])

    def lae(b: Any) -> Any:
        return anp.sum(ax.vmap(lambda ci: anp.logaddexp(b, anp.sum(ci) + b))(c))

    def hyp(b: Any) -> Any:
        return anp.sum(ax.vmap(lambda ci: anp.hypot(b, ci * b))(c))

    def mx(b: Any) -> Any:
        return anp.sum(ax.vmap(lambda ci: anp.maximum(b, ci * b))(c))

    def sel(b: Any) -> Any:
        return anp.sum(ax.vmap(lambda ci: anp.where(ci > 1, b, ci * b))(c))

    gs = [ax.grad(f)(2.0) for f in (lae, hyp, mx, sel)]
    h = [(1 + v * v) ** 0.5 for v in (0.5, 2.0, 3.0)]
    assert all(anp.shape(g) == () for g in gs)
    same(gs, [3.0, sum(h), 6.0, 2.5])


@pytest.mark.usefixtures("wide")
def test_gradient_per_example_through_a_layer_norm() -> None:
    """jax-ml/jax#19727: looked like zeros.

    Central differences of the same loss, example by example.
    """
    r = np.random.RandomState(0)
    W = r.randn(4, 3)
    X = r.randn(2, 4)
    T = r.randn(2, 3)

    def loss(W: Any, x: Any, t: Any, m: Any = anp) -> Any:
        z = m.tanh(x @ W)
        z = (z - m.mean(z)) / m.sqrt(m.var(z) + 0.001)
        return 0.5 * m.sum((z - t) ** 2)

    def fd(x: Any, t: Any) -> Any:
        out = np.zeros_like(W)
        for i in np.ndindex(*W.shape):
            d = np.zeros_like(W)
            d[i] = 1e-05
            out[i] = (loss(W + d, x, t, np) - loss(W - d, x, t, np)) / 2e-05
        return out

    same(
        ax.vmap(ax.grad(loss), (None, 0, 0))(anp.asarray(W), anp.asarray(X), anp.asarray(T)),
        np.stack([fd(x, t) for x, t in zip(X, T, strict=False)]),
        rtol=1e-4,
    )


def test_comparing_a_traced_value_does_not_spoil_the_gradient() -> None:
    """ml-explore/mlx#610: it turned into zeros.

    Y = (a + ones)^2 repeated three times: slope 3 * 2 * (1+1) = 12 each.
    """

    def f(a: Any) -> Any:
        a = a + anp.ones((3, 3, 3))
        flag = a < 1
        assert flag.shape == (3, 3, 3)
        return a**2

    _y, back = ax.vjp(f, anp.ones((3, 3)))
    same(back(anp.ones((3, 3, 3)))[0], [[12.0] * 3] * 3)


@pytest.mark.usefixtures("wide")
def test_slopes_of_multiplying_updates_at_repeated_positions() -> None:
    """jax-ml/jax#12469, jax-ml/jax#9296: wrong, or missing.

    Product rule by hand: y = (x0 u0 u2, x1 u1, x2); with u2 = 0 the slope in u2 is x0 u0.
    """
    ids = anp.array([0, 1, 0])

    def f(x: Any, u: Any) -> Any:
        return anp.sum(x.at[ids].multiply(u))

    x, u = (anp.array([2.0, 3.0, 5.0]), anp.array([7.0, 11.0, 0.0]))
    try:
        found = list(ax.grad(f, (0, 1))(x, u))
    except Exception as e:
        found = type(e).__name__ + str(e)[:60]
    wanted = [[0.0, 11.0, 1.0], [0.0, 3.0, 14.0]]
    same(found, wanted)


@pytest.mark.usefixtures("wide")
def test_positions_computed_from_what_is_differentiated() -> None:
    """jax-ml/jax#1104: crash.

    Y[i] = x[i] whatever the positions: the sum has slope 1 in each.
    """

    def f(x: Any) -> Any:
        return anp.sum(anp.zeros(3).at[anp.array(x - 1, anp.int32)].set(x) ** 2)

    x = anp.array([3.0, 1.0, 2.0])
    same(
        [ax.grad(f)(x), ax.jit(ax.grad(f))(x), ax.vmap(ax.grad(f))(anp.stack([x, x[::-1]]))],
        [[6.0, 2.0, 4.0]] * 2 + [[[6.0, 2.0, 4.0], [4.0, 2.0, 6.0]]],
    )


@pytest.mark.usefixtures("wide")
def test_both_modes_agree_on_an_embedding_with_a_padding_row() -> None:
    """pytorch/pytorch#93950: they disagreed.

    The padding row is overwritten by zero, so no slope reaches it in either mode; other rows get
    their counts.
    """
    ids = anp.array([[1, 2, 3], [3, 1, 3]])

    def emb(w: Any) -> Any:
        return w.at[-1].set(0.0)[ids].sum()

    w = anp.arange(8.0).reshape(4, 2) + 1
    rev = ax.grad(emb)(w)
    eye = anp.eye(8).reshape(8, 4, 2)
    fwd = ax.vmap(lambda d: ax.jvp(emb, (w,), (d,))[1])(eye).reshape(4, 2)
    want1 = [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
    same(rev, want1)
    same(fwd, want1)


@pytest.mark.usefixtures("wide")
def test_gradient_of_an_inner_gradient_step_of_a_convolution() -> None:
    """jax-ml/jax#380: failed.

    Central differences of the adapted loss in two coordinates of the kernel.
    """
    r = np.random.RandomState(1)
    x = anp.asarray(r.randn(2, 1, 6, 6))
    k0 = r.randn(2, 1, 3, 3)

    def net(k: Any) -> Any:
        return anp.tanh(ax.lax.conv_general_dilated(x, k, (2, 2), "SAME")).sum(1)

    def loss(k: Any, t: Any) -> Any:
        return anp.mean((net(k) - t) ** 2)

    def maml(k: Any) -> Any:
        return loss(k - 0.3 * ax.grad(loss)(k, 1.0), -0.5)

    g = ax.grad(maml)(anp.asarray(k0))

    def fd(i: Any) -> Any:
        d = np.zeros_like(k0)
        d[i] = 1e-05
        return (float(maml(anp.asarray(k0 + d))) - float(maml(anp.asarray(k0 - d)))) / 2e-05

    idx = [(0, 0, 1, 1), (1, 0, 2, 0), (0, 0, 0, 2)]
    same([g[i] for i in idx], [fd(i) for i in idx], rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("wide")
def test_grouped_strided_convolution_and_its_gradients() -> None:
    """ml-explore/mlx#3800: input gradients wrong by large factors.

    The convolution is linear in each argument: the gradient of <c, conv(x, k)> must pair with any
    direction d as <c, conv(d, k)>; the forward value is checked against plain loops.
    """
    r = np.random.RandomState(0)
    x, k = (r.randn(2, 4, 7, 6), r.randn(6, 2, 3, 2))

    def conv(x: Any, k: Any) -> Any:
        return ax.lax.conv_general_dilated(
            x, k, (2, 3), ((1, 0), (2, 1)), rhs_dilation=(2, 1), feature_group_count=2
        )

    X, K = (anp.asarray(x), anp.asarray(k))
    y = conv(X, K)
    xp = np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)))
    ref = np.zeros(y.shape)
    for b, o, i, j in np.ndindex(*y.shape):
        g = o // 3
        ref[b, o, i, j] = (
            xp[b, 2 * g : 2 * g + 2, 2 * i : 2 * i + 5 : 2, 3 * j : 3 * j + 2] * k[o]
        ).sum()
    c, dx, dk = (r.randn(*y.shape), r.randn(*x.shape), r.randn(*k.shape))
    gx, gk = ax.grad(lambda a, b: anp.sum(conv(a, b) * c), (0, 1))(X, K)
    hx = ax.grad(lambda b: anp.sum(ax.grad(lambda a: anp.sum(conv(a, b) * c))(X) * dx))(K)
    same(y, ref, rtol=1e-4)
    same(anp.sum(gx * dx), np.sum(np.asarray(conv(anp.asarray(dx), K)) * c), rtol=1e-4)
    same(anp.sum(gk * dk), np.sum(np.asarray(conv(X, anp.asarray(dk))) * c), rtol=1e-4)
    same(
        anp.sum(hx * dk),
        np.sum(np.asarray(conv(anp.asarray(dx), anp.asarray(dk))) * c),
        rtol=1e-4,
    )


@pytest.mark.usefixtures("wide")
def test_gradient_per_example_of_a_convolutional_model() -> None:
    """jax-ml/jax#3289: failed on shapes.

    One example at a time gives the same gradients; their sum is the batch gradient.
    """
    r = np.random.RandomState(0)
    X = anp.asarray(r.randn(3, 5, 5, 2))
    Y = anp.array([0, 2, 1])
    P = {"k": anp.asarray(r.randn(3, 3, 2, 3)), "d": anp.asarray(r.randn(12, 3))}

    def loss(p: Any, x: Any, y: Any) -> Any:
        h = ax.lax.conv_general_dilated(
            x[None], p["k"], (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return -ax.nn.log_softmax(ax.nn.relu(h).reshape(-1) @ p["d"])[y]

    g = ax.vmap(ax.grad(loss), (None, 0, 0))(P, X, Y)
    one = [ax.grad(loss)(P, X[i], Y[i]) for i in range(3)]
    tot = ax.grad(lambda p: ax.vmap(loss, (None, 0, 0))(p, X, Y).sum())(P)
    same(g["k"], np.stack([np.asarray(o["k"]) for o in one]))
    same(g["d"], np.stack([np.asarray(o["d"]) for o in one]))
    same(g["k"].sum(0), np.asarray(tot["k"]))
    same(g["d"].sum(0), np.asarray(tot["d"]))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_slopes_of_padding_count_the_copies(mode: Any) -> None:
    """HIPS/autograd#441: raised.

    Each padded cell is a copy of an interior cell: the slope of the sum of weights*cell counts
    those copies (NumPy pads an index array).
    """
    x = np.arange(5.0)
    w = np.arange(1.0, 10.0)

    def f(v: Any) -> Any:
        return anp.sum(anp.pad(v, (3, 1), mode=mode) * w)

    fill = {"constant_values": -1} if mode == "constant" else {}
    source = np.pad(np.arange(5), (3, 1), mode, **fill)

    same(ax.grad(f)(anp.asarray(x)), [w[source == i].sum() for i in range(5)])


@pytest.mark.usefixtures("wide")
def test_slopes_of_where_have_the_shapes_of_its_operands() -> None:
    """HIPS/autograd#396: broadcasting was ignored.

    The scalar branch is used at the two False places, so its slope is 2; the row vector's slope
    counts the True places of each column.
    """
    c = anp.array([[True, False, True], [True, True, False]])

    def f(row: Any, s: Any) -> Any:
        return anp.where(c, row, s).sum()

    g = ax.grad(f, (0, 1))(anp.array([1.0, 2.0, 3.0]), 4.0)
    ax.grad(lambda col: anp.where(c, col, col.T[0]).sum())(
        anp.ones((2, 1))
    ) if False else anp.zeros(1)
    same(g[0], [2.0, 1.0, 1.0])
    same(g[1], 2.0)
    same(anp.shape(g[1]), ())


@pytest.mark.usefixtures("wide")
def test_masked_row_of_attention_leaves_the_others_alone() -> None:
    """pytorch/pytorch#41508, pytorch/pytorch#196170: it made every gradient NaN.

    Rows with nothing to attend to are left out of the loss, so the gradient equals that of the
    loss computed on the remaining rows alone (plain loops over allowed keys).
    """
    r = np.random.RandomState(0)
    q = anp.asarray(r.randn(3, 2))
    k = anp.asarray(r.randn(3, 2))
    v = anp.asarray(r.randn(3, 2))
    m = anp.array([[True, True, False], [False, False, False], [False, True, True]])

    def att(v: Any, k: Any, q: Any) -> Any:
        w = ax.nn.softmax(q @ k.T, axis=-1, where=m)
        return anp.sum(anp.where(m.any(-1)[:, None], w @ v, 0.0) ** 2)

    def ref(v: Any, k: Any, q: Any) -> Any:
        t = 0.0
        for i, js in ((0, [0, 1]), (2, [1, 2])):
            e = anp.exp(anp.stack([q[i] @ k[j] for j in js]))
            t = t + anp.sum((e / e.sum() @ v[anp.array(js)]) ** 2)
        return t

    same(
        list(ax.grad(att, (0, 1, 2))(v, k, q)),
        [np.asarray(g) for g in ax.grad(ref, (0, 1, 2))(v, k, q)],
    )


@pytest.mark.usefixtures("wide")
def test_tangent_kernel_by_vjp_inside_and_jvp_outside_of_maps() -> None:
    """pytorch/functorch#417: internal assertion.

    For f(W, x) = sigmoid(x W) the kernel is J1 J2^T computed entry by entry in NumPy.
    """
    W = anp.array([[1.0, 0.5], [1.0, 1.0]])
    A = anp.array([[0.2, -1.0], [1.0, 0.3]])
    B = anp.array([[0.5, 0.1]])

    def f(W: Any, x: Any) -> Any:
        return ax.nn.sigmoid(x @ W)

    def ker(a: Any, b: Any) -> Any:
        _, back = ax.vjp(lambda w: f(w, a), W)
        return ax.vmap(lambda v: ax.jvp(lambda w: f(w, b), (W,), back(v))[1])(anp.eye(2))

    found = ax.jit(ax.vmap(ax.vmap(ker, (None, 0)), (0, None)))(A, B)

    def s(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    np.asarray(W)

    def d(x: Any) -> Any:
        return s(x @ np.asarray(W)) * (1 - s(x @ np.asarray(W)))

    wanted = [
        [np.diag(np.asarray(a) @ np.asarray(b) * d(np.asarray(a)) * d(np.asarray(b))) for b in B]
        for a in A
    ]
    wanted = np.array(wanted)
    same(found, wanted)


@pytest.mark.usefixtures("wide")
def test_padding_with_nan_that_is_masked_out() -> None:
    """pyro-ppl/numpyro#871, pyro-ppl/numpyro#568: destroyed the gradient.

    Gaussian: d/dmu sum over kept of -(y-mu)^2/2 = sum(y - mu) = 1.0; padding must count for
    nothing, whatever it is.
    """
    y = anp.array([[1.0, 2.0, anp.nan], [0.5, anp.nan, anp.nan]])
    n = anp.array([2, 1])

    def logp(mu: Any, row: Any, k: Any) -> Any:
        keep = anp.arange(3) < k
        return anp.sum(anp.where(keep, -0.5 * (anp.where(keep, row, 0.0) - mu) ** 2, 0.0))

    each = ax.vmap(ax.grad(logp), (None, 0, 0), axis_name="g")(0.5, y, n)
    tot = ax.grad(lambda m: ax.vmap(logp, (None, 0, 0))(m, y, n).sum())(0.5)
    same(each, [2.0, 0.0])
    same(tot, 2.0)


@pytest.mark.usefixtures("wide")
def test_masked_classes_have_no_probability() -> None:
    """jax-ml/jax#16208: a finite logarithm was left.

    Masked-out classes have probability 0: log -inf; the kept ones are normalised among
    themselves.
    """
    x = anp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 9.0]])
    m = anp.array([[True, False, True], [True, True, False]])
    log, s = ax.nn.log_softmax(x, where=m), ax.nn.softmax(x, where=m)
    z = math.log(1 + math.exp(2.0))
    same(log, [[-z, -math.inf, 2 - z], [-math.log(2), -math.log(2), -math.inf]])
    same(s.sum(-1), [1.0, 1.0])
    same(anp.where(m, 0.0, s), [[0.0] * 3] * 2)


@pytest.mark.usefixtures("wide")
def test_value_and_gradient_per_example_of_a_mixture() -> None:
    """jax-ml/jax#3335: NaN now and then.

    Log-likelihood of a two-component mixture of Bernoullis in stable form; per-example gradients
    add up to the batch gradient and match central differences.
    """
    X = anp.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], anp.float64)

    def nll(p: Any, x: Any) -> Any:
        logits = p["l"]
        b = logits * x - anp.clip(logits, 0) - anp.log1p(anp.exp(-anp.abs(logits)))
        return -logsumexp(p["w"] - logsumexp(p["w"]) + b.sum(-1))

    P = {
        "l": anp.array([[0.0, 50.0, -3.0], [1.0, -900.0, 2.0]], anp.float64),
        "w": anp.array([0.3, 0.0], anp.float64),
    }
    _v, g = ax.jit(ax.vmap(ax.value_and_grad(nll), (None, 0)))(P, X)
    tot = ax.grad(lambda p: ax.vmap(nll, (None, 0))(p, X).sum())(P)

    def fd(k: Any, i: Any, h: float = 1e-5) -> float:
        def loss(step: float) -> float:
            moved = {**P, k: P[k].at[i].add(step)}
            return sum(float(nll(moved, x)) for x in X)

        return (loss(h) - loss(-h)) / (2 * h)

    same(g["l"].sum(0), np.asarray(tot["l"]), rtol=1e-5)
    same(g["w"].sum(0), np.asarray(tot["w"]), rtol=1e-5)
    same(g["w"].sum(0)[0], fd("w", 0), rtol=1e-5)
    same(g["l"].sum(0)[1, 2], fd("l", (1, 2)), rtol=1e-5)
    same(g["l"].sum(0)[1, 0], fd("l", (1, 0)), rtol=1e-5)


@pytest.mark.usefixtures("wide")
def test_jacobians_and_vjps_under_maps() -> None:
    """pytorch/functorch#847, pytorch/functorch#922: zeros, or mixed lanes.

    D|x_j| / dx_ij = x_ij / |x_j| in NumPy; the vjp of exp-sum is v * exp.
    """
    x = np.array([[1.0, 2.0, 2.0], [3.0, 0.0, 4.0], [0.0, 5.0, 12.0]], np.float32)
    X = anp.asarray(x)
    F = anp.float32

    def jac(v: Any) -> Any:
        _y, back = ax.vjp(lambda v: anp.sqrt(anp.sum(v * v, axis=0, keepdims=True)), v)
        return ax.vmap(lambda e: back(e)[0])(anp.eye(1, dtype=F))[0]

    vj = ax.vmap(lambda a, v: ax.vjp(lambda a: anp.exp(a).sum(1), a)[1](v)[0], (0, None))(
        anp.stack([X, X / 2]), anp.array([1.0, 2.0, 3.0], F)
    )
    n = x / np.linalg.norm(x, axis=1, keepdims=True)
    same(ax.vmap(jac)(X), n)
    same(ax.jit(ax.vmap(jac, in_axes=1, out_axes=1))(X.T), n.T)
    same(vj, np.stack([np.exp(x), np.exp(x / 2)]) * np.array([1.0, 2.0, 3.0])[None, :, None])


@pytest.mark.usefixtures("wide")
def test_strided_slices_under_a_mapped_gradient() -> None:
    """pytorch/functorch#105: failed.

    Sliced entries get slope 2*v, others 0, per example.
    """
    X = anp.arange(32.0).reshape(2, 4, 4)

    def f(v: Any) -> Any:
        return (
            (v[::2, ::2] ** 2).sum() + (v[:, 1:][..., ::-2] * 3).sum() + v[-1:0:-2, None, 2].sum()
        )

    g = ax.vmap(ax.grad(f))(X)
    e = np.zeros((2, 4, 4))
    x = np.asarray(X)
    e[:, ::2, ::2] += 2 * x[:, ::2, ::2]
    e[:, :, 1::2] += 3
    e[:, 3, 2] += 1
    e[:, 1, 2] += 1
    same(g, e)
    same(ax.grad(lambda v: ax.vmap(f)(v).sum())(X), e)


@pytest.mark.usefixtures("wide")
def test_clipped_gradients_per_example_of_an_embedding() -> None:
    """meta-pytorch/opacus#89: failed where a table is used several times.

    Word vectors: loss of one example touches three rows; per-example norms by hand: clipping each
    to 1 and adding.
    """
    E = anp.asarray(np.random.RandomState(0).randn(5, 2))
    trip = anp.array([[0, 1, 4], [2, 2, 3]])

    def loss(E: Any, t: Any) -> Any:
        return -ax.nn.log_sigmoid(E[t[0]] @ E[t[1]]) - ax.nn.log_sigmoid(-E[t[0]] @ E[t[2]])

    def clipped(E: Any) -> Any:
        g = ax.vmap(ax.grad(loss), (None, 0))(E, trip)
        n = anp.sqrt(anp.sum(g**2, axis=(1, 2)))
        return anp.einsum("b,bij->ij", anp.minimum(1.0, 1.0 / n), g)

    e = np.asarray(E, float)

    def s(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    tot = np.zeros((5, 2))
    for a, b, c in np.asarray(trip):
        g = np.zeros((5, 2))
        u, w = (-s(-e[a] @ e[b]), s(e[a] @ e[c]))
        g[a] += u * e[b]
        g[b] += u * e[a]
        g[a] += w * e[c]
        g[c] += w * e[a]
        tot += g * min(1, 1 / np.sqrt((g**2).sum()))
    same(ax.jit(clipped)(E), tot)
