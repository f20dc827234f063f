"""Running child processes and turning what becomes of them into figures.

A child that fails, crashes or takes too long costs its own row and nothing else. When a child
that holds both sides fails, each side is tried alone: the table then shows the figure of the side
that works and the reason why the other does not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._child import ERROR_MARK
from ._figure import Figure
from ._namespace import ROOTS, Side
from ._settings import Settings
from ._tasks import Result

ROOT = Path(__file__).resolve().parents[2]
# Settings of the caller's shell that would change what is measured, or for one side only.
_REMOVED = (
    "AXONYM_BACKEND",
    "AXONYM_CHECK",
    "JAX_COMPILATION_CACHE_DIR",
    "JAX_DISABLE_JIT",
    "JAX_ENABLE_X64",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPROFILEIMPORTTIME",
)
# Runs an import and prints its seconds; the start of the interpreter does not count.
_IMPORT = "import time; t = time.perf_counter(); import {}, {}; print(time.perf_counter() - t)"
_NO_JAX = "; import sys; 'jax' in sys.modules and sys.exit('Axonym imported jax')"


@dataclass(frozen=True)
class Failure:
    """Why a child gave no result; ``cut_off`` is the limit in seconds that it exceeded, if any."""

    reason: str
    cut_off: float | None = None


def child_environment(cache: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child: CPU on both sides, empty caches, nobody's overrides.

    Args:
        cache: An empty folder in which libraries may keep caches.
        environment: The environment to start from.
    """
    kept = {name: value for name, value in environment.items() if name not in _REMOVED}
    return {**kept, "JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": cache}


def failure_reason(returncode: int, stderr: str) -> str:
    r"""Return in one line why a child ended.

    Examples:
        >>> failure_reason(1, "Traceback ...\nbench-error: TypeError: bad argument\n")
        'TypeError: bad argument'
        >>> failure_reason(-11, "")
        'crashed with SIGSEGV'
    """
    if returncode < 0:
        return f"crashed with {signal.Signals(-returncode).name}"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(ERROR_MARK)]
    if marked:
        return marked[-1].removeprefix(ERROR_MARK)
    return lines[-1] if lines else f"ended with exit status {returncode}"


def run_child(arguments: Sequence[str], limit: float) -> str | Failure:
    """Run the interpreter with ``arguments`` and return the last line that it printed."""
    with tempfile.TemporaryDirectory(prefix="axonym-bench-") as cache:
        try:
            ended = subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=child_environment(cache, os.environ),
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Failure(f"cut off after {limit:g} s", limit)
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        return Failure(failure_reason(ended.returncode, ended.stderr))
    return lines[-1]


def run_task(
    task: str, sides: Sequence[Side], settings: Settings, limit: float, **arguments: Any
) -> Result | Failure:
    """Run one task of `tools.bench._child` in a fresh process."""
    request = {
        "task": task,
        "sides": list(sides),
        "quick": settings.quick,
        "arguments": arguments,
    }
    printed = run_child(["-m", f"{__package__}._child", json.dumps(request)], limit)
    if isinstance(printed, Failure):
        return printed
    result: Result = json.loads(printed)
    return result


def import_time(side: Side, limit: float) -> Result | Failure:
    """Time the import of one side's root and array modules in a fresh process."""
    program = _IMPORT.format(*ROOTS[side]) + (_NO_JAX if side == "ours" else "")
    printed = run_child(["-c", program], limit)
    return printed if isinstance(printed, Failure) else {"time": {side: [float(printed)]}}


def gather(outcomes: Sequence[Result | Failure], metric: str, side: Side) -> Figure:
    """Return the figure of one side for one metric from everything that its children printed.

    A failure among the outcomes decides: samples of the children that went well say little about
    a program that does not always run.
    """
    samples: list[float] = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            if outcome.cut_off is None:
                return Figure((), f"unavailable: {outcome.reason}")
            return Figure((outcome.cut_off,), outcome.reason, at_least=True)
        samples += outcome[metric][side]
    return Figure(tuple(samples))
