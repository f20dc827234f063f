"""What the written pages say is so: their code runs, their links and their commands exist.

All Python blocks of a page are one program. A comment behind a `print` says what is printed, up to
a colon.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from axonym._report import OURS
from axonym_core import config

ROOT = Path(__file__).parent.parent
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("packages/*/README.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/reference/*.md"),
    ]
}
# Pages that are executed when the site is built are not Python in blocks of this kind.
PROGRAMS = {name: path for name, path in PAGES.items() if "```python\n" in path.read_text()}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")
SESSION = re.compile(r"nox (?:-R )?-s \"?([\w.-]+(?:\(\w+\))?)")


def statements(source: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """The statements of a program, each with what it is said to print."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        assert statement.end_lineno is not None
        last = lines[statement.end_lineno - 1]
        comment = last[statement.end_col_offset or 0 :].partition("#")[2].strip()
        printing = lines[statement.lineno - 1].startswith("print(")
        yield statement, comment.partition(":")[0] if printing and comment else None


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("page", PROGRAMS)
def test_code_on_a_page_runs_and_prints_what_the_page_says(
    page: str, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "\n".join(BLOCK.findall(PROGRAMS[page].read_text()))
    names: dict[str, Any] = {"__name__": page}
    with config.override(backend=backend):
        for statement, said in statements(program):
            exec(compile(ast.Module([statement], []), page, "exec"), names)
            printed = capsys.readouterr().out.strip()
            assert said is None or printed == said


def test_the_pages_hold_code() -> None:
    without = [name for name in PAGES if name.startswith("packages/") and name not in PROGRAMS]

    assert without == []
    assert "README.md" in PROGRAMS


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_files(page: str) -> None:
    path = PAGES[page]
    broken = [to for to in LINK.findall(path.read_text()) if not (path.parent / to).exists()]

    assert broken == []


def test_sessions_that_pages_name_exist() -> None:
    noxfile = (ROOT / "noxfile.py").read_text()
    named = {s for path in PAGES.values() for s in SESSION.findall(path.read_text())}
    plain = {re.sub(r"\(\w+\)$|-\d\.\d+$", "", session) for session in named}
    defined = set(re.findall(r"^def (\w+)\(session", noxfile, re.MULTILINE))
    defined |= set(re.findall(r'^@nox\.session\(name="([\w-]+)"', noxfile, re.MULTILINE))

    assert named
    assert plain <= defined


def test_each_package_says_what_changed_in_its_version() -> None:
    for folder in sorted((ROOT / "packages").iterdir()):
        if not (folder / "pyproject.toml").exists():
            continue
        version = re.search(r'^version = "(.+)"', (folder / "pyproject.toml").read_text(), re.M)
        assert version is not None
        changes = (folder / "CHANGELOG.md").read_text()
        assert f"## {version[1]}" in changes, folder.name


def test_the_page_of_the_environment_lists_what_the_report_knows() -> None:
    page = (ROOT / "docs/reference/environment.md").read_text("utf-8")
    assert set(re.findall(r"AXONYM_\w+", page)) == set(OURS)
