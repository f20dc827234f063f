"""Plant each fault into a copy of the repository, and see whether a test fails.

A fault is *killed* when one of the tests named with it fails, or does not end. It *survives* when
all of them pass, and is *stale* when its old text no longer occurs exactly once. Tests that cannot
be collected prove nothing: that is an error of the table too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

Outcome = Literal["killed", "survived", "stale", "broken"]

#: What is not worth copying.
LEFT_OUT = shutil.ignore_patterns(".git", ".nox*", "dist", "_build", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Fault:
    """A small edit of one source file that makes it wrong.

    Attributes:
        name: What is wrong then.
        file: Path of the file in the repository.
        old: Text that occurs in it exactly once.
        new: What stands there instead.
        tests: Arguments of pytest: the tests that are to find it.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def is_stale(fault: Fault, root: Path) -> bool:
    """Whether the edit no longer applies to the sources."""
    path = root / fault.file
    return not path.is_file() or path.read_text().count(fault.old) != 1 or fault.old == fault.new


@contextmanager
def copy_of(root: Path) -> Iterator[Path]:
    """A copy of the repository, for as long as the context is open."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        yield Path(shutil.copytree(root, Path(folder, "tree"), ignore=LEFT_OUT))


def run_tests(tree: Path, tests: Sequence[str], seconds: float = 180) -> Outcome:
    """What the tests of a copy say about it."""
    sources = [str(path) for path in sorted(tree.glob("packages/*/src"))]
    path = os.pathsep.join([*sources, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return "killed"
    # 0: all passed; 1: some failed; a negative number: the process died; else nothing was tested.
    return "survived" if done.returncode == 0 else "killed" if done.returncode < 2 else "broken"


def try_fault(fault: Fault, tree: Path) -> Outcome:
    """Plant a fault into a copy, run its tests, and take it out again."""
    if is_stale(fault, tree):
        return "stale"
    path = tree / fault.file
    right = path.read_text()
    path.write_text(right.replace(fault.old, fault.new))
    try:
        return run_tests(tree, fault.tests)
    finally:
        path.write_text(right)


def try_faults(
    faults: Sequence[Fault],
    root: Path,
    workers: int = 2,
    report: Callable[[Fault, Outcome], None] = lambda fault, outcome: None,
) -> dict[Fault, Outcome]:
    """Try faults, each worker in a copy of its own.

    Args:
        faults: What to plant.
        root: The repository.
        workers: How many to try at once.
        report: Called with each outcome as soon as it is known.
    """
    trees: SimpleQueue[Path] = SimpleQueue()

    def attempt(fault: Fault) -> Outcome:
        tree = trees.get()
        try:
            outcome = try_fault(fault, tree)
        finally:
            trees.put(tree)
        report(fault, outcome)
        return outcome

    with ExitStack() as copies, ThreadPoolExecutor(workers) as pool:
        for _ in range(workers):
            trees.put(copies.enter_context(copy_of(root)))
        return dict(zip(faults, pool.map(attempt, faults), strict=True))
