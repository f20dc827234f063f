"""Programs from public bug reports about functions with rules of their own, written anew."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_each_lane_draws_with_its_own_key_under_a_custom_rule() -> None:
    """jax-ml/jax#3964: mapping the key let a tracer escape.

    The rule says tangent = value * dp, so d/dp of the sum is the sum of the drawn values; each
    lane must use its own key.
    """

    @partial(ax.custom_jvp, nondiff_argnums=(0,))
    def draw(shape: Any, p: Any, key: Any) -> Any:
        return p * ax.random.uniform(key, shape)

    @draw.defjvp
    def _(shape: Any, primals: Any, tangents: Any) -> Any:
        y = draw(shape, *primals)
        return (y, y * tangents[0])

    keys = ax.random.split(ax.random.PRNGKey(3), 4)

    def one(k: Any) -> Any:
        return anp.sum(draw((2, 3), 1.0, k))

    def slope(k: Any) -> Any:
        return ax.grad(lambda p: anp.sum(draw((2, 3), p, k)))(1.0)

    ref = [float(one(k)) for k in keys]
    same(ax.vmap(one)(keys), ref)
    same(ax.jit(ax.vmap(slope))(keys), ref)
    same(ax.vmap(ax.jit(slope))(keys), ref)


@pytest.mark.usefixtures("wide")
def test_safe_root_of_distances_under_a_map_over_shifts() -> None:
    """jax-ml/jax#4047: NaN, only when mapped.

    All points coincide except for the shift; the pair distances are |shift_k| for every pair,
    whose slope in position differences cancels by symmetry (i,j) with (j,i): for shift 0 the safe
    rule gives 0, for shift s the gradient to point m is the sum over j of (unit s)(+1 as first,
    -1 as second) = 0.
    """

    @ax.custom_jvp
    def safe_sqrt(x: Any) -> Any:
        return anp.sqrt(x)

    @safe_sqrt.defjvp
    def _(p: Any, t: Any) -> Any:
        y = safe_sqrt(p[0])
        return (y, 0.5 * t[0] / anp.where(p[0] > 0, y, anp.inf))

    def pair(pos: Any, sh: Any) -> Any:
        return safe_sqrt(anp.square(pos[:, None] - pos[None] + sh).sum(-1))

    def total(pos: Any) -> Any:
        return ax.vmap(pair, (None, 0))(pos, anp.array([[0.0, 0.0], [3.0, 4.0]])).sum()

    v, g = ax.value_and_grad(total)(anp.ones((3, 2)))
    same(v, 45.0)
    same(g, [[0.0, 0.0]] * 3)


@pytest.mark.usefixtures("wide")
def test_backward_rule_may_use_what_a_loop_of_the_forward_rule_computed() -> None:
    """jax-ml/jax#3359: unstable results.

    Y = x * product of the draws, so the slope is y / x; the saved forward product is what the
    rule returns, times 3 to show that the rule ran.
    """

    def run(x: Any, n: Any, seed: Any) -> Any:

        def body(c: Any) -> Any:
            k, y, g, i = c
            k, s = ax.random.split(k)
            u = ax.random.uniform(s, x.shape, minval=0.5, maxval=1.5)
            return (k, y * u, g * u, i + 1)

        k0 = ax.random.PRNGKey(seed)
        _, y, g, _ = ax.lax.while_loop(lambda c: c[3] < n, body, (k0, x, anp.ones_like(x), 0))
        return (y.sum(), g)

    @partial(ax.custom_vjp, nondiff_argnums=(1, 2))
    def noisy(x: Any, n: Any, seed: Any = 0) -> Any:
        return run(x, n, seed)[0]

    noisy.defvjp(run, lambda n, seed, g, ct: (3 * g * ct,))
    x = anp.array([1.0, 2.0, 4.0])
    v, g = ax.value_and_grad(noisy)(x, 5, 1)
    g2 = ax.jit(ax.grad(noisy), static_argnums=(1, 2))(x, 5, 1)
    same(anp.sum(g * x) / 3, float(v))
    same(g2 - g, [0.0, 0.0, 0.0])


@pytest.mark.usefixtures("wide")
def test_second_derivatives_of_an_implicit_root() -> None:
    """patrick-kidger/optimistix#151: reverse over reverse and forward over reverse failed.

    Y^3 + y = x at y=2, x=10: y' = 1/(3y^2+1) = 1/13, y'' = -6y/(3y^2+1)^3 = -12/2197.
    """

    def solve(x: Any) -> Any:

        def step(c: Any) -> Any:
            return (c[0] - (c[0] ** 3 + c[0] - x) / (3 * c[0] ** 2 + 1), c[1] + 1)

        return ax.lax.while_loop(lambda c: c[1] < 40, step, (x * 0 + 1.0, 0))[0]

    root = ax.custom_vjp(solve)
    root.defvjp(lambda x: (lambda y: (y, y))(root(x)), lambda y, g: (g / (3 * y**2 + 1),))
    rootj = ax.custom_jvp(solve)

    @rootj.defjvp
    def _(p: Any, t: Any) -> Any:
        y = rootj(p[0])
        return (y, t[0] / (3 * y**2 + 1))

    same(ax.grad(root)(10.0), 1 / 13)
    same(ax.grad(ax.grad(root))(10.0), -12 / 2197)
    same(ax.grad(ax.grad(rootj))(10.0), -12 / 2197)
    same(ax.jvp(ax.grad(rootj), (10.0,), (1.0,))[1], -12 / 2197)
    same(ax.vmap(ax.grad(ax.grad(rootj)))(anp.array([10.0, 2.0])), [-12 / 2197, -6 / 64])


@pytest.mark.usefixtures("wide")
def test_none_as_the_cotangent_of_a_registered_object() -> None:
    """jax-ml/jax#10238, jax-ml/jax#13099: its constructor ran on a placeholder.

    2x has slope 2; the object argument is not used: None stands for zero, whatever its tree.
    """

    @ax.tree_util.register_pytree_node_class
    class Box:
        def __init__(self, a: Any) -> None:
            self.a = anp.asarray(a, anp.float32)

        def tree_flatten(self) -> Any:
            return ((self.a,), None)

        @classmethod
        def tree_unflatten(cls, aux: Any, ch: Any) -> Any:
            return cls(*ch)

    @ax.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return 2.0 * x

    f.defvjp(lambda x, y: (f(x, y), None), lambda _, g: (7.0 * g, None))
    _y, back = ax.vjp(f, 3.0, Box(1.0))
    cx, cy = back(1.0)
    gx = ax.jit(ax.grad(lambda x, b: f(x, b) * 1.0, (0, 1)))(3.0, Box(2.0))
    same(cx, 7.0)
    same(cy.a, 0.0)
    same(gx[0], 7.0)
    same(gx[1].a, 0.0)


@pytest.mark.usefixtures("wide")
def test_functions_with_rules_take_keywords_and_defaults() -> None:
    """jax-ml/jax#1938: keywords were refused.

    C (x+y)^... the wrapped rule's own numbers: value c*(x+y); rule 5*c for x and 6*c for y
    whatever the call style.
    """

    @ax.custom_vjp
    def f(x: Any, y: Any, c: Any = 1.0) -> Any:
        return c * (x + y)

    f.defvjp(lambda x, y, c: (c * (x + y), c), lambda c, g: (5 * c * g, 6 * c * g, 0 * c))

    @ax.custom_jvp
    def h(x: Any, y: Any, c: Any = 1.0) -> Any:
        return c * (x + y)

    @h.defjvp
    def _(p: Any, t: Any) -> Any:
        return (h(*p), 5 * p[2] * t[0] + 6 * p[2] * t[1])

    same(f(10.0, 5.0, c=2.0), 30.0)
    same(ax.grad(lambda x: f(x, 1.0, c=2.0))(1.0), 10.0)
    same(ax.grad(lambda y: f(y=y, x=1.0))(1.0), 6.0)
    same(ax.vmap(lambda x: f(x, y=3.0))(anp.ones(2)), [4.0, 4.0])
    same(ax.grad(lambda x: h(x, 1.0, c=2.0))(1.0), 10.0)
    same(ax.grad(lambda y: h(y=y, x=1.0))(1.0), 6.0)


def _product(x: Any, y: Any) -> Any:
    return x * y, (x, y)


@pytest.mark.parametrize(
    ("fwd", "bwd", "message"),
    [
        (_product, lambda r, g: (g,), r"1.*2|2.*1"),
        (_product, lambda r, g: g, "tuple"),
        (_product, lambda r, g: (g, anp.ones(3)), "3"),
        (lambda x, y: x * y, lambda r, g: (g, g), "pair|two|2"),
        (_product, lambda r, g: (g, (g, g)), "."),
    ],
)
def test_wrong_cotangents_are_refused_with_numbers_and_the_name_of_the_rule(
    fwd: Any, bwd: Any, message: str
) -> None:
    """jax-ml/jax#8356: unreadable error.

    The message must name the rule's function and say what was expected and got.
    """

    @ax.custom_vjp
    def mul(x: Any, y: Any) -> Any:
        return x * y

    mul.defvjp(fwd, bwd)

    with pytest.raises((TypeError, ValueError), match=message) as refused:
        ax.grad(mul, (0, 1))(anp.ones(()), anp.ones(()))
    assert any(word in str(refused.value) for word in ("mul", "bwd", "lambda", "backward", "fwd"))


@pytest.mark.usefixtures("wide")
def test_forward_rule_of_an_integrator_of_a_function() -> None:
    """jax-ml/jax#10134, jax-ml/jax#2718: failed, more so when it closed over the parameter.

    For y' = -p y: y(1) = exp(-p), slope in p -exp(-p), in y0 exp(-p); fourth-order steps of 1/50
    are exact to 1e-8.
    """
    tm = ax.tree_util.tree_map

    @partial(ax.custom_jvp, nondiff_argnums=(0,))
    def ode(f: Any, y0: Any, ts: Any, *args: Any) -> Any:

        def step(c: Any, t: Any) -> Any:
            y, s = c
            h = t - s

            def go(a: Any, k: Any) -> Any:
                return tm(lambda u, v: u + a * v, y, k)

            k1 = f(y, s, *args)
            k2 = f(go(h / 2, k1), s + h / 2, *args)
            k3 = f(go(h / 2, k2), s + h / 2, *args)
            k4 = f(go(h, k3), t, *args)
            return (
                (
                    tm(
                        lambda u, a, b, c, d: u + h / 6 * (a + 2 * b + 2 * c + d), y, k1, k2, k3, k4
                    ),
                    t,
                ),
                None,
            )

        return ax.lax.scan(step, (y0, ts[0]), ts[1:])[0][0]

    @ode.defjvp
    def _(f: Any, p: Any, t: Any) -> Any:
        y0, ts, *a = p
        dy, _, *da = t
        n = len(a)

        def aug(z: Any, s: Any, *both: Any) -> Any:
            return ax.jvp(lambda y, *q: f(y, s, *q), (z[0], *both[:n]), (z[1], *both[n:]))

        return ode(aug, (y0, dy), ts, *a, *da)

    ts = anp.linspace(0.0, 1.0, 51)

    def rhs(y: Any, s: Any, p: Any) -> Any:
        return -p * y

    def g(y0: Any, p: Any) -> Any:
        return ode(rhs, y0, ts, p)

    e = math.exp(-2.0)
    same(
        [
            g(1.0, 2.0),
            ax.jvp(g, (1.0, 2.0), (0.0, 1.0))[1],
            *ax.jit(ax.grad(g, (0, 1)))(1.0, 2.0),
            ax.vmap(ax.grad(g, 1), (None, 0))(1.0, anp.array([1.0, 2.0])),
        ],
        [e, -e, e, -e, [-math.exp(-1.0), -e]],
        rtol=1e-5,
    )


@pytest.mark.usefixtures("wide")
def test_mapping_inside_of_a_forward_rule() -> None:
    """jax-ml/jax#3201: shapes were confused.

    The rule returns 100 * sum_i a_i * da_i: for a=(1,2), da=(1,1): 300; slopes (100, 200).
    """

    @ax.custom_jvp
    def f(a: Any, n: Any) -> Any:
        return anp.sum(a) * n

    @f.defjvp
    def _(p: Any, t: Any) -> Any:
        a, n = p
        da, _ = t
        return (f(a, n), 100.0 * ax.vmap(lambda u, v: u * v, (0, 0))(a, da).sum())

    a = anp.array([1.0, 2.0])
    same(ax.jvp(lambda a: f(a, 3), (a,), (anp.ones(2),))[1], 300.0)
    same(ax.grad(f)(a, 3), [100.0, 200.0])
    same(ax.vmap(ax.grad(f), (0, None))(anp.stack([a, 2 * a]), 3), [[100.0, 200.0], [200.0, 400.0]])
    same(
        ax.grad(lambda a: ax.vmap(lambda r: f(r, 2))(a).sum())(anp.stack([a, a])),
        [[100.0, 200.0]] * 2,
    )
    same(ax.grad(lambda a: ax.grad(f)(a, 3).sum())(a), [100.0, 100.0])


@pytest.mark.usefixtures("wide")
def test_rules_close_over_traced_values_under_vmap() -> None:
    """y1xiaoc/fwdlap#5, jax-ml/jax#2718: refused as leaked tracers.

    The value is x * s lane by lane; the rule says slope 10 s, in every lane.
    """
    xs, ss = (anp.array([1.0, 2.0]), anp.array([4.0, 5.0]))

    def mj(s: Any) -> Any:
        f = ax.custom_jvp(lambda x: x * s)
        f.defjvp(lambda p, t: (p[0] * s, 10 * s * t[0]))
        return f

    def mv(s: Any) -> Any:
        f = ax.custom_vjp(lambda x: x * s)
        f.defvjp(lambda x: (x * s, None), lambda r, g: (10 * s * g,))
        return f

    @partial(ax.custom_jvp, nondiff_argnums=(0,))
    def app(f: Any, x: Any) -> Any:
        return f(x)

    app.defjvp(lambda f, p, t: (f(p[0]), 7 * t[0]))
    for m in (mj, mv):
        same(ax.jit(ax.vmap(lambda x, s, m=m: m(s)(x)))(xs, ss), [4.0, 10.0])
        same(ax.vmap(lambda x, s, m=m: ax.grad(m(s))(x))(xs, ss), [40.0, 50.0])
        same(ax.vmap(lambda x, s, m=m: m(s)(x))(xs, ss), [4.0, 10.0])
        same(ax.vmap(lambda s, m=m: m(s)(2.0))(ss), [8.0, 10.0])
    same(ax.vmap(lambda x, s: app(lambda y: s * y, x))(xs, ss), [4.0, 10.0])
