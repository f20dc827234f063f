"""Sum the results of many pytest runs into one closing line.

`nox -s tests` runs pytest once per package, each in its own environment, `.ci/run` does so on two
Pythons, and each run leaves a JUnit XML file. This program adds them up:

    python tools/closing_line.py .nox/reports --status 0

It prints one row per run and then, last, a line in pytest's own form. `--status` is the exit
status of what ran the tests: where it is not zero and yet no run counts a failure (a session
that could not install its packages, a pytest that was killed), one error is counted, so the line
never says that all is well when it is not. The exit status is 0 only if something passed and
nothing failed.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Results:
    """The counts of one or of several pytest runs."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def __add__(self, other: Results) -> Results:
        return Results(
            self.passed + other.passed,
            self.failed + other.failed,
            self.errors + other.errors,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
        )

    def __str__(self) -> str:
        parts = [f"{self.passed} passed", f"{self.failed} failed"]
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        if self.errors:
            parts.append(f"{self.errors} error{'s' * (self.errors > 1)}")
        return f"{', '.join(parts)} in {self.seconds:.2f}s"

    @property
    def good(self) -> bool:
        """Whether something passed and nothing failed."""
        return self.passed > 0 and not self.failed and not self.errors


def read_report(path: Path) -> Results:
    """Read one JUnit XML file; one that cannot be read counts as an error."""
    try:
        suites = ET.parse(path).getroot().iter("testsuite")
        return sum((_read_suite(suite) for suite in suites), Results())
    except (ET.ParseError, ValueError):
        return Results(errors=1)


def _read_suite(suite: ET.Element) -> Results:
    tests, failed, errors, skipped = (
        int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")
    )
    passed = tests - failed - errors - skipped
    return Results(passed, failed, errors, skipped, float(suite.get("time", "0")))


def total(results: Iterable[Results], status: int) -> Results:
    """Add up the runs; a non-zero status that no run explains becomes one error."""
    summed = sum(results, Results())
    if status and not summed.failed and not summed.errors:
        summed += Results(errors=1)
    return summed


def main(arguments: list[str] | None = None) -> int:
    """Print the rows and the closing line; return the exit status."""
    parser = argparse.ArgumentParser(description="Sum JUnit XML files into one closing line.")
    parser.add_argument("folder", type=Path, help="folder of JUnit XML files")
    parser.add_argument("--status", type=int, default=0, help="exit status of the test command")
    options = parser.parse_args(arguments)

    runs = {path.stem: read_report(path) for path in sorted(options.folder.glob("*.xml"))}
    for name, results in runs.items():
        print(f"{name:<30} {results}")
    summed = total(runs.values(), options.status)
    print(f" {summed} ".center(80, "="), flush=True)
    return 0 if summed.good else 1


if __name__ == "__main__":
    sys.exit(main())
