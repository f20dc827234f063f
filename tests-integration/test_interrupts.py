"""An interrupt may come at any place: afterwards no trace is open, and no thread waits for ever.

A trace function raises `KeyboardInterrupt` at one instruction of the packages after the other.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym as ax
from axonym import lax
from axonym_compile import CompiledFunctionCache
from axonym_core.settings import context
from axonym_core.tracing import eval_trace

X = np.ones(2, np.float32)


class Interrupter:
    """Raises at the n-th instruction that is run in modules of the packages."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("axonym"):
            frame.f_trace_opcodes = True
            return self
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def interrupted(work: Callable[[], Any], at: int) -> bool:
    """Run with an interrupt at an instruction; whether there were so many."""
    interrupter, previous = Interrupter(at), sys.gettrace()
    sys.settrace(interrupter)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(previous)
    return interrupter.left <= 0


def compiled(cache: CompiledFunctionCache) -> Any:
    return ax.jit(lambda x: lax.add(lax.sin(x), x), cache=cache)


def work_of(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """What is interrupted, and what must work afterwards in this thread and in another one."""
    cache = CompiledFunctionCache(1)
    f = compiled(cache)

    def jit() -> Any:
        cache.clear()
        return f(X)

    def eviction() -> Any:
        f(X)
        return f(np.ones(3, np.float32))

    def vmap() -> Any:
        return ax.vmap(lambda x: lax.psum(lax.sin(x), "i"), axis_name="i", out_axes=None)(X)

    def xmap() -> Any:
        return ax.xmap(lambda x: lax.psum(lax.sin(x), "i"), {0: "i"}, {})(X)

    def grad() -> Any:
        return ax.grad(lambda x: lax.mul(lax.sin(x), x))(np.float32(1))

    def scan() -> Any:
        return lax.scan(lambda c, x: (lax.add(c, x), c), np.float32(0), X)

    work = locals()[name]
    return work, lambda: (work(), f(X))


# Python goes on where a finaliser is interrupted, with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["jit", "eviction", "vmap", "xmap", "grad", "scan"])
def test_after_an_interrupt_everything_works(name: str) -> None:
    with ax.config.override(backend="numpy", check=False):
        work, after = work_of(name)
        want = [np.asarray(x) for x in ax.tree_util.tree_leaves(after())]
        at, step = 1, 1
        while interrupted(work, at):
            assert context.trace is eval_trace, at
            with pytest.raises(NameError):
                lax.psum(1.0, "i")
            got: list[Any] = []

            def other(got: list[Any] = got) -> None:
                with ax.config.override(backend="numpy", check=False):
                    got.extend(ax.tree_util.tree_leaves(after()))

            thread = threading.Thread(target=other, daemon=True)
            thread.start()
            thread.join(20)
            assert not thread.is_alive(), at
            for a, b in zip(got, want, strict=True):
                assert np.array_equal(a, b), at
            for a, b in zip(ax.tree_util.tree_leaves(after()), want, strict=True):
                assert np.array_equal(a, b), at
            # Each place at the beginning and every few of the many later ones, at other places for
            # each kind of work.
            step = 1 if at < 150 else 11
            at += step
        assert at > 150
