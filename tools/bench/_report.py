"""From figures to ratios, verdicts, the printed table and the JSON record."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ._bench import Pair
from ._figure import Figure
from ._rows import Row, Unit
from ._settings import Settings

_PACKAGES = ("axonym", "jax", "jaxlib", "numpy")
_SCALES: Mapping[Unit, Sequence[tuple[float, str]]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "times": ((1.0, "x"),),
    "count": ((1.0, ""),),
}


@dataclass(frozen=True)
class Line:
    """A row with what came out.

    Attributes:
        row: The row.
        ours: Figure of Axonym.
        theirs: Figure of ``jax``.
        ratio: ours / theirs, or None where one of them has no value.
        bound: ``"<="`` or ``">="`` where a figure was cut off and the ratio is only bounded.
        verdict: ``"ok"``, ``"MISS"`` or ``"not yet"``.
        note: What to know about the line; the reason where there is no verdict.
        seconds: How long measuring took.
    """

    row: Row
    ours: Figure
    theirs: Figure
    ratio: float | None
    bound: str
    verdict: str
    note: str
    seconds: float


def ratio_of(ours: Figure, theirs: Figure) -> tuple[float | None, str]:
    """Return ours / theirs and how it is bounded: ``""``, ``"<="`` or ``">="``.

    Examples:
        >>> ratio_of(Figure((1.0,)), Figure((4.0,), "cut off", at_least=True))
        (0.25, '<=')
    """
    if ours.value is None or theirs.value is None or (ours.at_least and theirs.at_least):
        return None, ""
    bound = ">=" if ours.at_least else "<=" if theirs.at_least else ""
    if theirs.value == 0:
        return (1.0 if ours.value == 0 else math.inf), bound
    return ours.value / theirs.value, bound


def judge(row: Row, pair: Pair, seconds: float) -> Line:
    """Return the line for a row: ratio, verdict and note.

    A bounded value decides only in the direction of its bound; where it leaves the question
    open, the verdict is ``"not yet"``.
    """
    ours, theirs = pair
    if row.missing:
        return Line(row, ours, theirs, None, "", "not yet", row.missing, seconds)
    ratio, bound = ratio_of(ours, theirs)
    if row.judged == "ratio":
        value, value_bound = ratio, bound
    else:
        value, value_bound = ours.value, ">=" if ours.at_least else ""
    sides = (("ours", ours), ("theirs", theirs))
    notes = [f"{side}: {figure.problem}" for side, figure in sides if figure.problem]
    if value is None:
        verdict = "not yet"
    elif value <= row.target:
        verdict = "not yet" if value_bound == ">=" else "ok"
    else:
        verdict = "not yet" if value_bound == "<=" else "MISS"
    if verdict == "MISS" and row.judged == "ratio" and _within_spread(ours, theirs, row.target):
        notes.append("the target lies within the spread of the samples")
    return Line(row, ours, theirs, ratio, bound, verdict, "; ".join(notes), seconds)


def _within_spread(ours: Figure, theirs: Figure, target: float) -> bool:
    """Tell whether our lower quartile meets the target against their upper quartile."""
    if ours.spread is None or theirs.spread is None or ours.at_least:
        return False
    return ours.spread[0] <= target * theirs.spread[1]


def quantity(value: float | None, unit: Unit) -> str:
    """Write a value with three digits in a fitting unit.

    Examples:
        >>> quantity(0.00123, "s"), quantity(2.5e6, "B"), quantity(1.5, "times")
        ('1.23 ms', '2.50 MB', '1.50 x')
        >>> quantity(None, "s"), quantity(0.0, "B")
        ('-', '0 B')
    """
    if value is None:
        return "-"
    scales = _SCALES[unit]
    scale, name = next((s for s in scales if abs(value) >= s[0]), scales[-1])
    scaled = value / scale
    digits = 0 if value == 0 or scaled >= 100 else 1 if scaled >= 10 else 2
    return f"{scaled:.{digits}f} {name}".rstrip()


def _figure_text(figure: Figure, unit: Unit) -> str:
    return (">= " if figure.at_least else "") + quantity(figure.value, unit)


def _number(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a table in plain text, notes below the line that they belong to."""
    head = ("row", "what", "ours", "theirs", "ratio", "target", "verdict")
    body = [
        (
            line.row.name,
            line.row.what,
            _figure_text(line.ours, line.row.unit),
            _figure_text(line.theirs, line.row.unit),
            "-" if line.ratio is None else f"{line.bound} {_number(line.ratio)}".strip(),
            ("" if line.row.judged == "ratio" else "ours ") + _number(line.row.target),
            line.verdict,
        )
        for line in lines
    ]
    widths = [max(len(cells[i]) for cells in (head, *body)) for i in range(len(head))]

    def written(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if 2 <= i <= 5 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    text = [written(head), "  ".join("-" * width for width in widths)]
    for line, cells in zip(lines, body, strict=True):
        text.append(written(cells))
        if line.note:
            text.append(" " * (widths[0] + 2) + f"({line.note})")
    return "\n".join(text) + "\n"


def summary(lines: Sequence[Line]) -> str:
    """Count the verdicts in one line.

    Examples:
        >>> summary([])
        '0 ok, 0 MISS, 0 not yet'
    """
    counts = [
        f"{sum(line.verdict == verdict for line in lines)} {verdict}"
        for verdict in ("ok", "MISS", "not yet")
    ]
    return ", ".join(counts)


def environment() -> dict[str, Any]:
    """Describe what the figures were measured on: versions, processor, load."""
    versions: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "versions": versions,
    }


def record(lines: Sequence[Line], settings: Settings, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole run, every sample included, as values that JSON can hold."""
    return {
        "environment": dict(about),
        "settings": asdict(settings),
        "rows": [_line_record(line) for line in lines],
    }


def _line_record(line: Line) -> dict[str, Any]:
    row = line.row
    finite = line.ratio is not None and math.isfinite(line.ratio)
    return {
        "name": row.name,
        "what": row.what,
        "unit": row.unit,
        "target": row.target,
        "judged": row.judged,
        "ours": _figure_record(line.ours),
        "theirs": _figure_record(line.theirs),
        "ratio": line.ratio if finite else None,
        "bound": line.bound,
        "verdict": line.verdict,
        "note": line.note,
        "seconds": round(line.seconds, 3),
    }


def _figure_record(figure: Figure) -> dict[str, Any]:
    return {
        "median": figure.value,
        "quartiles": figure.spread,
        "samples": figure.samples,
        "at_least": figure.at_least,
        "problem": figure.problem,
    }


def write_json(path: Path, contents: Mapping[str, Any]) -> None:
    """Write the record, with its folder if there is none yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(contents, indent=1, allow_nan=False) + "\n", encoding="utf-8")
