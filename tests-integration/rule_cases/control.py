"""Cases of loops, branches and calls. Bodies are made at each call, so that no program is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import axonym as ax
from axonym import lax
from rule_cases.case import Case, spaced, whole


def _scans() -> Iterator[Case]:
    for reverse in (False, True):

        def scan(w: Any, carry: Any, xs: Any, reverse: bool = reverse) -> Any:
            def step(carry: Any, x: Any) -> Any:
                carry = lax.sin(w * carry) + x
                return carry, carry * x

            return list(lax.scan(step, carry, xs, reverse=reverse))

        def looped(w: Any, carry: Any, xs: Any, reverse: bool = reverse) -> Any:
            outs = []
            for x in xs[::-1] if reverse else xs:
                carry = np.sin(w * carry) + x
                outs.append(carry * x)
            return [carry, np.stack(outs[::-1] if reverse else outs)]

        label = "from the end" * reverse
        for dtype in (np.float64, np.float32):
            operands = tuple(
                spaced(shape, -0.9, 0.9, k).astype(dtype)
                for k, shape in enumerate(((2,), (2,), (4, 2)))
            )
            yield Case("scan", scan, looped, operands, label, loose=20)
        scalars = spaced(()), spaced(()), spaced((3,))
        yield Case("scan", scan, looped, scalars, label, loose=20)

    def linear(carry: Any, xs: Any) -> Any:
        return list(lax.scan(lambda c, x: (c * 2 + x, c - x), carry, xs))

    def unrolled(carry: Any, xs: Any) -> Any:
        outs = []
        for x in xs:
            carry, out = carry * 2 + x, carry - x
            outs.append(out)
        return [carry, np.stack(outs)]

    yield Case(
        "scan", linear, unrolled, (spaced((2,)), spaced((3, 2))), "linear", ((0, 1),), loose=20
    )
    yield Case("scan", linear, unrolled, (whole((2,)), whole((3, 2))), "of integers")

    def constant(w: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (c, x * w), None, xs)[1]

    yield Case(
        "scan",
        constant,
        lambda w, xs: xs * w,
        (spaced(()), spaced((3, 2))),
        "without state",
        ((0,), (1,)),
    )
    none = lambda carry, xs: [carry, np.zeros((0, 2))]  # noqa: E731
    yield Case("scan", linear, none, (spaced((2,)), np.zeros((0, 2))), "of no steps", ((0, 1),))


def _whiles() -> Iterator[Case]:
    def loop(limit: Any, w: Any, x: Any) -> Any:
        state = (np.int32(0), x)
        return lax.while_loop(
            lambda c: c[0] < limit, lambda c: (c[0] + 1, lax.sin(c[1]) * w), state
        )[1]

    def looped(limit: Any, w: Any, x: Any) -> Any:
        for _ in range(int(limit)):
            x = np.sin(x) * w
        return x

    for limit in (0, 1, 3):
        yield Case(
            "while",
            loop,
            looped,
            (np.array(limit, np.int32), spaced((2,)), spaced((2,), seed=1)),
            f"{limit} steps",
            reverse=False,
        )

    def doubled(x: Any) -> Any:
        return lax.while_loop(lambda x: x < 8, lambda x: x * 2, x)

    def to_eight(x: Any) -> Any:
        while x < 8:
            x = x * 2
        return x

    yield Case("while", doubled, to_eight, (np.array(1.3),), "until it is large", reverse=False)
    yield Case("while", doubled, to_eight, (np.array(3, np.int32),), "of integers")

    def tangents(x: Any) -> Any:
        def loop(x: Any) -> Any:
            state = (np.int32(0), x)
            return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.sin(c[1])), state)[1]

        return ax.linearize(loop, x)[1](x * 2)

    def chain(x: Any) -> Any:
        t = x * 2
        for _ in range(3):
            x, t = np.sin(x), np.cos(x) * t
        return t

    yield Case("while_loop_tangents", tangents, chain, (spaced((2,)),), reverse=False)


def _branches() -> Iterator[Case]:
    def branch(pred: Any, x: Any, y: Any) -> Any:
        return lax.cond(pred, lambda: lax.sin(x) * y, lambda: x - y)

    def taken(pred: Any, x: Any, y: Any) -> Any:
        return np.sin(x) * y if pred else x - y

    def choose(index: Any, x: Any) -> Any:
        return lax.switch(
            index,
            [lambda x: [x, x * 2], lambda x: [lax.sin(x), x * x], lambda x: [x * 0, lax.exp(x)]],
            x,
        )

    def chosen(index: Any, x: Any) -> Any:
        k = min(max(int(index), 0), 2)
        return [[x, x * 2], [np.sin(x), x * x], [x * 0, np.exp(x)]][k]

    x, y = spaced((2, 2)), spaced((2, 2), seed=1)
    for pred in (True, False):
        yield Case("cond", branch, taken, (np.array(pred), x, y), f"{pred}")
        yield Case(
            "cond", branch, taken, (np.array(pred), x.astype("f4"), y.astype("f4")), f"{pred}"
        )
    for index in (-1, 0, 1, 5):
        yield Case(
            "cond", choose, chosen, (np.array(index, np.int32), x), f"branch {index}", loose=8
        )

    def linear(pred: Any, x: Any, y: Any) -> Any:
        return lax.cond(pred, lambda: x * 3 + y, lambda: y - x)

    def line(pred: Any, x: Any, y: Any) -> Any:
        return x * 3 + y if pred else y - x

    yield Case("cond", linear, line, (np.array(True), x, y), "linear", ((1, 2),))


def _calls() -> Iterator[Case]:
    def called(x: Any, y: Any) -> Any:
        return ax.jit(lambda x, y: [lax.sin(x) * y, y - x])(x, y)

    def plain(x: Any, y: Any) -> Any:
        return [np.sin(x) * y, y - x]

    x, y = spaced((2, 2)), spaced((2, 2), seed=1)
    yield Case("jit", called, plain, (x, y))
    yield Case("jit", called, plain, (x.astype("f4"), y.astype("f4")))
    yield Case(
        "jit",
        lambda x, y: ax.jit(lambda x, y: x * 2 - y)(x, y),
        lambda x, y: x * 2 - y,
        (x, y),
        "linear",
        ((0, 1),),
    )
    yield Case("jit", lambda n: ax.jit(lambda n: n + 1)(n), lambda n: n + 1, (whole((3,)),))

    def forward_rule(x: Any, y: Any) -> Any:
        fun = ax.custom_jvp(lambda x, y: lax.sin(x) * y)
        fun.defjvp(lambda p, t: (fun(*p), lax.cos(p[0]) * p[1] * t[0] + lax.sin(p[0]) * t[1]))
        return fun(x, y)

    def backward_rule(x: Any, y: Any) -> Any:
        fun = ax.custom_vjp(lambda x, y: lax.sin(x) * y)
        fun.defvjp(
            lambda x, y: (fun(x, y), (x, y)),
            lambda saved, ct: (lax.cos(saved[0]) * saved[1] * ct, lax.sin(saved[0]) * ct),
        )
        return fun(x, y)

    product = lambda x, y: np.sin(x) * y  # noqa: E731
    for name, fun in (("custom_jvp_call", forward_rule), ("custom_vjp_call", backward_rule)):
        yield Case(name, fun, product, (x, y), loose=8)
        yield Case(name, fun, product, (x.astype("f4"), y.astype("f4")), loose=8)

    def linearized(x: Any, t: Any) -> Any:
        fun = ax.custom_vjp(lambda x: lax.sin(x))
        fun.defvjp(lambda x: (fun(x), x), lambda x, ct: (lax.cos(x) * ct,))
        return ax.linearize(fun, x)[1](t)

    yield Case(
        "custom_vjp_linear", linearized, lambda x, t: np.cos(x) * t, (x, y), "", ((1,),), loose=8
    )


CASES = [*_scans(), *_whiles(), *_branches(), *_calls()]
