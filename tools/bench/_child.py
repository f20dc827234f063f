"""The child process: runs one task and prints its result as the last line of standard output.

``python -m tools.bench._child '{"task": "calls", "sides": ["ours"], "quick": true, ...}'``

An exception ends the process in the ordinary way, with a traceback; one more line on standard
error then carries its type and the first line of its message, for the table.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from ._settings import FULL, QUICK
from ._staging import compiling, staging
from ._tasks import Result, calls, memory, steps

ERROR_MARK = "bench-error: "
TASKS: dict[str, Callable[..., Result]] = {
    "calls": calls,
    "steps": steps,
    "memory": memory,
    "staging": staging,
    "compiling": compiling,
}


def describe(kind: type[BaseException], error: BaseException) -> str:
    """Return one line that names the exception and begins its message."""
    lines = str(error).strip().splitlines()
    return f"{kind.__name__}: {lines[0]}" if lines else kind.__name__


def _report_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    traceback.print_exception(kind, error, trace)
    sys.stderr.write(f"{ERROR_MARK}{describe(kind, error)}\n")


def main(request: str) -> None:
    """Run the task that ``request``, a JSON object, asks for.

    Raises:
        RuntimeError: If Axonym, measured alone, has imported ``jax``: the figure would hold that
            import, and it must not happen.
    """
    asked = json.loads(request)
    settings = QUICK if asked["quick"] else FULL
    sides = asked["sides"]
    result = TASKS[asked["task"]](sides, settings, **asked["arguments"])
    if "theirs" not in sides and "jax" in sys.modules:
        raise RuntimeError("Axonym imported jax, so this figure is not its own")
    sys.stdout.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    sys.excepthook = _report_error
    main(sys.argv[1])
