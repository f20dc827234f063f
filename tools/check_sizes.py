"""Fail when a module has grown past the size at which it should be two.

A module holds one concept and is read in one sitting: aim at 50 to 350 lines, argue for 500, and
split at 700. `python tools/check_sizes.py` checks every Python file of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

LIMIT = 700
ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("packages", "tests-integration", "tools", "docs", "noxfile.py", "conftest.py")


def python_files(root: Path) -> Iterator[Path]:
    """Yield the repository's own Python files, without those that builds leave behind."""
    for name in FOLDERS:
        place = root / name
        found = [place] if place.is_file() else sorted(place.rglob("*.py"))
        for path in found:
            inside = path.relative_to(root).parts
            if not {"_build", "build", "dist", "jupyter_execute"} & set(inside):
                yield path


def too_long(root: Path, limit: int = LIMIT) -> list[tuple[Path, int]]:
    """Return the files over the limit with their numbers of lines, longest first."""
    lengths = [(path, len(path.read_text("utf-8").splitlines())) for path in python_files(root)]
    over = [(path.relative_to(root), lines) for path, lines in lengths if lines > limit]
    return sorted(over, key=lambda item: -item[1])


def main() -> int:
    """Print the offenders; return the exit status."""
    over = too_long(ROOT)
    for path, lines in over:
        print(f"{path}: {lines} lines, the limit is {LIMIT}: split it by concept")
    if not over:
        print(f"no module is longer than {LIMIT} lines")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
