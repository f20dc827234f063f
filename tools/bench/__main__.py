"""The command line: ``python -m tools.bench [--quick] [--only NAME ...] [--json PATH]``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ._bench import Bench
from ._figure import Figure
from ._report import Line, environment, judge, record, summary, table, write_json
from ._rows import Row, select
from ._settings import FULL, QUICK

QUICK_REMARK = "; quick run: the targets are meant for the full sizes"


def measure(row: Row, bench: Bench) -> Line:
    """Measure one row and judge it."""
    start = time.perf_counter()
    pair = (Figure(), Figure()) if row.measure is None else row.measure(bench)
    return judge(row, pair, time.perf_counter() - start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite and return the exit status.

    A missed target is a result, not an error: the status is 0 once the table is complete.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="rows whose names begin so"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats")
    parser.add_argument(
        "--json", type=Path, default=Path("bench-results.json"), help="where the record goes"
    )
    asked = parser.parse_args(arguments)
    try:
        rows = select(asked.only)
    except ValueError as error:
        parser.error(str(error))
    settings = QUICK if asked.quick else FULL
    about = environment()
    bench = Bench(settings)
    start = time.perf_counter()
    lines = []
    for number, row in enumerate(rows, 1):
        sys.stderr.write(f"[{number}/{len(rows)}] {row.name} ...\n")
        sys.stderr.flush()
        lines.append(measure(row, bench))
    versions = ", ".join(f"{name} {version or '-'}" for name, version in about["versions"].items())
    sys.stdout.write(
        f"\n{versions}; Python {about['python']}, {about['cores']} cores; "
        f"ratio = ours / theirs, medians{QUICK_REMARK if settings.quick else ''}\n\n"
        f"{table(lines)}\n{summary(lines)}; {time.perf_counter() - start:.0f} s\n"
    )
    write_json(asked.json, record(lines, settings, about))
    sys.stdout.write(f"all samples: {asked.json}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
