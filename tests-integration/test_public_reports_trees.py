"""Programs from public bug reports about trees and copies, written anew."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, NamedTuple

import pytest
from agreement import same

import axonym as ax
import axonym.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.usefixtures("wide")
def test_axes_given_as_instances_of_the_users_class() -> None:
    """jax-ml/jax#26053, jax-ml/jax#3265, jax-ml/jax#16170: refused.

    A is mapped, b is not: (1,2,3)+2; the mapped constructor returns its class with stacked
    fields.
    """

    @dataclasses.dataclass
    class Pair:
        a: object
        b: object

        def __post_init__(self) -> None:
            object.__setattr__(self, "n", 2)

    ax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, c: Pair(*c))
    p = Pair(anp.array([1.0, 2.0, 3.0]), anp.array(2.0))
    one = ax.vmap(lambda q: q.a + q.b, in_axes=(Pair(0, None),))(p)
    mk = ax.vmap(lambda v: Pair(v, anp.broadcast_to(v, (2,))), out_axes=Pair(0, 1))(p.a)
    g = ax.grad(lambda q: anp.sum(q.a * q.b))(p)
    same(one, [3.0, 4.0, 5.0])
    same(mk.a, [1.0, 2.0, 3.0])
    same(mk.b, [[1.0, 2.0, 3.0]] * 2)
    same(g.a, [2.0, 2.0, 2.0])
    same(g.b, 6.0)


def test_copies_and_pickles_keep_their_type() -> None:
    """jax-ml/jax#2632: a deep copy was a NumPy array.

    A deep copy is a value of the same type, equal, and independent; so is a pickled one.
    """
    x = {"p": anp.arange(3), "k": ax.random.PRNGKey(1), "h": anp.ones(2, anp.bfloat16)}
    d, q, s = (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x["p"]))
    assert all(type(v[k]) is type(x[k]) and v[k].dtype == x[k].dtype for v in (d, q) for k in x)
    assert type(s) is type(x["p"])
    same(d["p"], [0, 1, 2])
    same([float(t) for t in q["h"]], [1.0, 1.0])


def test_leaves_by_a_test_at_any_depth() -> None:
    """google-deepmind/chex#62: ignored inside of dataclasses.

    Nodes that are leaves by the test are passed whole, at any depth, in any container.
    """
    tu = ax.tree_util

    class H(NamedTuple):
        a: int
        b: int

    @dataclasses.dataclass
    class D:
        p: object
        q: object

    tu.register_dataclass(D, data_fields=["p", "q"], meta_fields=[])
    t = D(p=H(1, 2), q=[H(4, 3), None, {"z": H(5, 6)}])

    def lf(n: Any) -> Any:
        return isinstance(n, H)

    m = tu.tree_map(lambda h: h.a * 10 + h.b if isinstance(h, H) else "x", t, is_leaf=lf)
    n = tu.tree_map(lambda v: 0 if v is None else 1, t, is_leaf=lambda v: v is None)
    same(m.p, 12)
    same(m.q[0], 43)
    same(m.q[2]["z"], 56)
    same(len(tu.tree_leaves(t, is_leaf=lf)), 3)
    same(len(tu.tree_leaves(t, is_leaf=lambda v: isinstance(v, D))), 1)
    same(n.q[1], 0)
    assert [ax.tree_util.keystr(k) for k, _ in tu.tree_flatten_with_path(t, is_leaf=lf)[0]] == [
        ".p",
        ".q[0]",
        ".q[2]['z']",
    ]


def test_static_data_that_differ_are_named() -> None:
    """jax-ml/jax#19729: the message did not say so.

    A mismatch of a static field must be named in the message (both values); in in_axes it may
    also be let pass.
    """

    @dataclasses.dataclass
    class M:
        w: object
        act: str

    ax.tree_util.register_dataclass(M, data_fields=["w"], meta_fields=["act"])
    v = M(anp.ones((3, 2)), "relu")
    try:
        ax.vmap(lambda m: m.w.sum(), in_axes=(M(0, "tanh"),))(v)
        msg = "no error"
    except (ValueError, TypeError) as e:
        msg = str(e)
    try:
        ax.lax.scan(lambda c, x: (M(c.w, "gelu"), None), v, None, length=2)
        m2 = "no error"
    except (ValueError, TypeError) as e:
        m2 = str(e)
    try:
        ax.lax.cond(True, lambda: v, lambda: M(v.w, "gelu"))
        m3 = "no error"
    except (ValueError, TypeError) as e:
        m3 = str(e)
    same(ax.vmap(lambda m: m.w.sum(), in_axes=(M(0, "relu"),))(v), [2.0, 2.0, 2.0])
    assert ("tanh" in msg and "relu" in msg) or msg == "no error"
    assert "gelu" in m2
    assert "relu" in m2
    assert "gelu" in m3
    assert "relu" in m3
