"""What makes the cache of compiled functions safe to use from many threads.

Three small pieces: a count that any number of threads may raise without a lock, a lock that a
finaliser cannot get stuck on, and the waiting of several threads for a program that one of them
makes, which finds out when a thread would wait for itself.
"""

from __future__ import annotations

import threading
from itertools import count
from typing import Any, final

from axonym_core.errors import RecursiveCallError

__all__ = ["Counter", "Lock", "Making", "wait"]


class Counter:
    """A count that several threads may raise at once, by calling ``add``."""

    __slots__ = ("_lock", "_reads", "add")

    def __init__(self) -> None:
        # One call into C, hence indivisible and cheap; `+= 1` is neither.
        self.add = count().__next__
        self._reads = 0
        self._lock = threading.Lock()

    def read(self) -> int:
        """The count; reading raises the counter too, and takes its own reads off."""
        with self._lock:
            value = self.add() - self._reads
            self._reads += 1
            return value


class Lock:
    """A lock that knows whether the current thread holds it.

    Python may run a finaliser at any moment, also in a thread that holds this lock, and a finaliser
    may call a compiled function. That call must not wait for the lock: see ``held``.
    """

    __slots__ = ("_depth", "_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = None
        self._lock.release()

    def held(self) -> bool:
        """Whether the current thread is inside of a ``with`` block of this lock."""
        return self._owner == threading.get_ident()

    def try_enter(self) -> bool:
        """Enter if that is possible at once, and not by entering for the second time."""
        if self.held() or not self._lock.acquire(blocking=False):
            return False
        self._owner = threading.get_ident()
        self._depth += 1
        return True


@final
class Making:
    """A program that some thread is making."""

    __slots__ = ("done", "made", "owner", "value")

    def __init__(self) -> None:
        self.owner = threading.get_ident()
        self.done = threading.Event()
        self.made = False
        self.value: Any = None


# Which thread waits for what, over all caches, so that a circle of them is found.
_waiting: dict[int, Making] = {}
_waiting_lock = threading.RLock()


def wait(making: Making, name: str) -> None:
    """Wait until a program is made, or has failed; refuse if this thread has to make it."""
    me = threading.get_ident()
    with _waiting_lock:
        step: Making | None = making
        while step is not None and not step.done.is_set():
            if step.owner == me:
                raise RecursiveCallError(
                    f"the compiled program of {name} is needed to make that same program: the "
                    "function calls itself with arguments of the same types. End the recursion "
                    "with a static argument that changes, or write a loop with lax.while_loop or "
                    "lax.scan."
                )
            step = _waiting.get(step.owner)
        _waiting[me] = making
    try:
        making.done.wait()
    finally:
        with _waiting_lock:
            del _waiting[me]
