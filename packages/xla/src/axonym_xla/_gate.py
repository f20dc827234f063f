"""The gate before the runtime: who is about to enter it passes here, unless the gate is shut.

It is shut in two situations, in which C++ would hang or end the process:

* In a forked child of a process that had started the client. The client's threads do not exist
  there, so nothing is ever computed. What had been computed before can still be read.
* When the interpreter ends. A daemon thread that comes back from C++ into an interpreter that is
  being taken down ends the process with an abort. So before that, threads that come to the gate
  are ended, and those inside are waited for, for a while.

Passing the open gate costs the test of an empty list:

    if shut:
        stop(buffer)
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from .errors import ClientError

__all__ = ["guard", "shut", "stop"]

_LONGEST_WAIT: Final = 5.0
_POLL: Final = 0.005
_QUIET_POLLS: Final = 4
_HERE: Final = os.path.dirname(__file__)

shut: Final[list[Callable[[Any], None]]] = []
"""Empty while the gate is open; else it holds what to do with those who come."""

_guarding = False
_ended: Final[list[threading.Thread]] = []


def stop(buffer: Any = None) -> None:
    """Turn back whoever comes to the gate while it is shut.

    Args:
        buffer: The buffer that is to be read, where it is only that.

    Raises:
        ClientError: The process was forked.
        SystemExit: The interpreter ends, and this is not its last thread.
    """
    shut[-1](buffer)


def guard() -> None:
    """Shut the gate at the right moments from now on; called when the client starts."""
    global _guarding
    if _guarding:
        return
    _guarding = True
    atexit.register(_close_at_exit)
    at_fork: Callable[..., None] | None = getattr(os, "register_at_fork", None)
    if at_fork is not None:  # not on Windows, which has no fork
        at_fork(after_in_child=lambda: shut.append(_refuse_in_child))


def _refuse_in_child(buffer: Any) -> None:
    if buffer is not None and (buffer.is_deleted() or buffer.is_ready()):
        return
    raise ClientError(
        "this process was forked from one that had started the XLA client, whose threads do not "
        "exist here: nothing can be computed. Start processes with "
        "multiprocessing.get_context('spawn'), or fork before the first array is made."
    )


def _close_at_exit() -> None:
    last = threading.get_ident()

    def end_thread(_: Any) -> None:
        if threading.get_ident() != last:
            _ended.append(threading.current_thread())
            raise SystemExit  # which `threading` takes for a quiet end

    if shut:
        return  # a forked child: nobody computes
    shut.append(end_thread)
    deadline = time.monotonic() + _LONGEST_WAIT
    quiet = 0
    while len(sys._current_frames()) > 1 and quiet < _QUIET_POLLS and time.monotonic() < deadline:
        time.sleep(_POLL)  # lets the others run
        busy = any(thread.is_alive() for thread in _ended) or any(
            _is_inside(frame) for ident, frame in sys._current_frames().items() if ident != last
        )
        quiet = 0 if busy else quiet + 1


def _is_inside(frame: FrameType | None) -> bool:
    """Whether a stack has a frame of this package, so that the thread is in C++ or may go there."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_HERE):
            return True
        frame = frame.f_back
    return False
