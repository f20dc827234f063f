"""Where in the user's program an equation or a tracer was made.

Recording happens on every traced operation, so it must be cheap: one walk up the frames to the
first that is not ours, of which only the code object and the instruction offset are kept (a frame
would keep its locals alive). File and line are resolved when an error or a printer asks.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import NamedTuple

_internal: set[CodeType] = set()
_internal_prefix = "axonym"


class SourceInfo(NamedTuple):
    """A place in user code."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """Line number of the recorded instruction."""
        line = 0
        for start, _, number in self.code.co_lines():
            if start > self.offset:
                break
            line = number or line
        return line

    def __str__(self) -> str:
        return f"{self.code.co_filename}:{self.line} ({self.code.co_qualname})"


def current() -> SourceInfo | None:
    """Return the innermost place in the call stack that is outside of Axonym's packages."""
    frame = sys._getframe(1)
    while True:
        code = frame.f_code
        if code not in _internal:
            module = frame.f_globals.get("__name__", "")
            if not (module.startswith(_internal_prefix) and _is_ours(module)):
                return SourceInfo(code, frame.f_lasti)
            _internal.add(code)
        back = frame.f_back
        if back is None:
            return None
        frame = back


def _is_ours(module: str) -> bool:
    root = module.partition(".")[0]
    return root == "axonym" or root.startswith("axonym_")


def describe(source: SourceInfo | None) -> str:
    """Return `file:line (function)`, or a stand-in where no user frame was found."""
    return str(source) if source is not None else "<unknown place>"
