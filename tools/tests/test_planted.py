from __future__ import annotations

from pathlib import Path

import pytest

from tools.planted import __main__ as program
from tools.planted.planting import Fault, is_stale, try_faults
from tools.planted.table import FAULTS

ROOT = Path(__file__).parents[2]
SOURCE = "packages/little/src/little.py"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one module and one test."""
    (tmp_path / SOURCE).parent.mkdir(parents=True)
    (tmp_path / SOURCE).write_text(
        "def add(a, b):\n    return a + b\n\ndef zero():\n    return 0\n"
    )
    test = "from little import add\n\ndef test_sum():\n    assert add(1, 2) == 3\n"
    (tmp_path / "test_little.py").write_text(test)
    return tmp_path


def fault(old: str, new: str, *tests: str) -> Fault:
    return Fault("a fault", SOURCE, old, new, tests or ("test_little.py",))


def outcomes(root: Path, *faults: Fault) -> list[str]:
    return list(try_faults(faults, root).values())


def test_a_fault_that_a_test_finds_is_killed_and_another_survives(repository: Path) -> None:
    found = fault("a + b", "a - b")
    unseen = fault("return 0", "return 1")

    assert outcomes(repository, found, unseen) == ["killed", "survived"]
    assert "a + b" in (repository / SOURCE).read_text()


def test_an_edit_that_no_longer_applies_is_stale(repository: Path) -> None:
    gone = fault("a * b", "a - b")
    twice = fault("return", "yield")

    assert outcomes(repository, gone, twice) == ["stale", "stale"]


def test_tests_that_cannot_be_run_kill_nothing(repository: Path) -> None:
    assert outcomes(repository, fault("a + b", "a - b", "test_absent.py")) == ["broken"]


def test_survivors_and_stale_edits_are_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    survivor = Fault("zero is one", SOURCE, "return 0", "return 1", ("test_little.py",))
    stale = Fault("sums multiply", SOURCE, "a * b", "a", ("test_little.py",))

    assert program.report([survivor, stale], root=repository) == 1
    said = capsys.readouterr().out
    assert f"survived  {SOURCE}: zero is one" in said
    assert f"stale  {SOURCE}: sums multiply" in said


def test_a_table_whose_faults_are_all_found_is_good(repository: Path) -> None:
    assert program.report([fault("a + b", "a - b")], root=repository) == 0


def test_every_edit_of_the_table_applies_to_the_sources() -> None:
    assert [f"{f.file}: {f.name}" for f in FAULTS if is_stale(f, ROOT)] == []


def test_the_table_has_faults_of_all_packages_and_names_tests_that_are_there() -> None:
    packages = {Path(f.file).parts[1] for f in FAULTS}
    tests = {test.split("::")[0] for f in FAULTS for test in f.tests}

    assert packages == {path.name for path in (ROOT / "packages").iterdir() if path.is_dir()}
    assert [test for test in sorted(tests) if not (ROOT / test).exists()] == []
    assert len(FAULTS) >= 60
