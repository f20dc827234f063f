"""Plant the faults of the table one by one, and name those that no test finds.

    python -m tools.planted                  all of them, two at a time: about ten minutes
    python -m tools.planted -k custom        those whose name or file holds a word
    python -m tools.planted --list           what there is

The exit status is 0 only if every fault was killed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tools.planted.planting import Fault, Outcome, copy_of, run_tests, try_faults
from tools.planted.table import FAULTS

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Try the faults, print a line for each and a summary; return the exit status."""
    parser = argparse.ArgumentParser(description="Plant faults and see whether tests find them.")
    parser.add_argument("-k", dest="word", default="", help="only faults with this in name or file")
    parser.add_argument("--workers", type=int, default=2, help="how many at once")
    parser.add_argument("--list", action="store_true", help="print the table and do nothing")
    options = parser.parse_args(arguments)
    faults = [fault for fault in FAULTS if options.word in f"{fault.file} {fault.name}"]
    if options.list:
        for fault in faults:
            print(f"{fault.file}: {fault.name}")
        return 0

    tests = sorted({test for fault in faults for test in fault.tests})
    with copy_of(ROOT) as tree:
        if run_tests(tree, tests, seconds=600) != "survived":
            print("the tests fail, or cannot be run, although nothing is planted")
            return 1
    return report(faults, options.workers)


def report(faults: list[Fault], workers: int = 2, root: Path = ROOT) -> int:
    """Try faults and say what became of them; return the exit status."""
    start = time.perf_counter()

    def say(fault: Fault, outcome: Outcome) -> None:
        if outcome != "killed":
            print(f"{outcome:>8}  {fault.file}: {fault.name}", flush=True)

    outcomes = try_faults(faults, root, workers, say)
    counts = Counter(outcomes.values())
    parts = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    print(f"{', '.join(parts)} in {time.perf_counter() - start:.0f} s")
    return 0 if faults and counts == {"killed": len(faults)} else 1


if __name__ == "__main__":
    sys.exit(main())
