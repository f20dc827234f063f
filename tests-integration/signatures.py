"""How the parameters of two functions differ, and which differences a page of the docs lists."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Difference(NamedTuple):
    """A parameter of which two functions make something else.

    Attributes:
        function: The other library's function, with its module: ``numpy.linalg.norm``.
        parameter: Its name; ours where only ours has it.
        kind: ``left out``, ``added`` (as a keyword), ``added place``, ``keyword`` (by position
            there), ``place`` (a keyword there), ``positional`` (a keyword there too), ``name``,
            ``default``, or ``moved``: a position means another parameter.
    """

    function: str
    parameter: str
    kind: str


class Row(NamedTuple):
    """A row of the page: patterns of functions, parameters, a kind, and the reason."""

    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    kind: str
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Whether it is about this difference."""
        return (
            difference.kind == self.kind
            and any(p in (difference.parameter, "*") for p in self.parameters)
            and any(fnmatchcase(difference.function, f) for f in self.functions)
        )


def read_rows(page: Path) -> list[Row]:
    """Rows of the table of a page."""
    rows = []
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            functions, parameters = [tuple(re.findall(r"`([^`]+)`", c)) for c in cells[:2]]
            rows.append(Row(functions, parameters, cells[2], cells[3]))
    return rows


def parameters_of(function: Callable[..., Any]) -> list[Parameter] | None:
    """Parameters of a function; None where Python does not know them."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _same_default(ours: Any, theirs: Any) -> bool:
    if ours is theirs or theirs is np._NoValue:
        return True
    return type(ours) is type(theirs) and bool(ours == theirs)


def differences(name: str, ours: list[Parameter], theirs: list[Parameter]) -> Iterator[Difference]:
    """What differs between parameters of ours and theirs, of the function of that name."""
    known = {p.name for p in ours}
    there = {p.name: p for p in theirs}
    places = [p for p in theirs if p.kind in _POSITIONAL]
    takes_more = {p.kind for p in theirs} & set(_VARIADIC)
    matched: set[str] = set()

    def compared(p: Parameter, q: Parameter, *kinds: str) -> Iterator[Difference]:
        matched.add(q.name)
        if not _same_default(p.default, q.default):
            kinds = (*kinds, "default")
        for kind in kinds:
            yield Difference(name, q.name, kind)

    for i, p in enumerate([p for p in ours if p.kind in _POSITIONAL]):
        if i >= len(places):
            if p.name in there and there[p.name].kind not in _VARIADIC:
                yield from compared(p, there[p.name], "place")
            elif Parameter.VAR_POSITIONAL not in takes_more:
                yield Difference(name, p.name, "added place")
            continue
        q = places[i]
        unnamed = Parameter.POSITIONAL_ONLY in (p.kind, q.kind) and q.name not in known
        if p.name == q.name or unnamed:
            hidden = p.kind is Parameter.POSITIONAL_ONLY and q.kind is not p.kind
            yield from compared(p, q, *(["positional"] if hidden else []))
        elif p.name in there or q.name in known:
            yield Difference(name, p.name, "moved")
            matched.add(p.name)
        else:
            yield from compared(p, q, "name")
    for p in ours:
        if p.kind is Parameter.KEYWORD_ONLY:
            if p.name in there:
                by_place = there[p.name].kind in _POSITIONAL
                yield from compared(p, there[p.name], *(["keyword"] if by_place else []))
            elif Parameter.VAR_KEYWORD not in takes_more:
                yield Difference(name, p.name, "added")
    for q in theirs:
        if q.kind not in _VARIADIC and q.name not in matched and not q.name.startswith("_"):
            yield Difference(name, q.name, "left out")
