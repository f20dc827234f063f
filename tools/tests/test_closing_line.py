from __future__ import annotations

from pathlib import Path

import pytest

from tools.closing_line import Results, main, read_report, total

REPORT = (
    '<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="{tests}" '
    'failures="{failures}" errors="{errors}" skipped="{skipped}" time="1.25"/></testsuites>'
)


def write(path: Path, tests: int, failures: int = 0, errors: int = 0, skipped: int = 0) -> None:
    path.write_text(REPORT.format(tests=tests, failures=failures, errors=errors, skipped=skipped))


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1].strip("= ")


def test_a_report_is_read_as_counts(tmp_path: Path) -> None:
    write(tmp_path / "core.xml", tests=10, failures=1, errors=2, skipped=3)

    assert read_report(tmp_path / "core.xml") == Results(4, 1, 2, 3, 1.25)


def test_a_damaged_report_counts_as_an_error(tmp_path: Path) -> None:
    (tmp_path / "core.xml").write_text("<testsuites><testsuite")

    assert read_report(tmp_path / "core.xml").errors == 1


def test_the_closing_line_sums_all_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "core.xml", tests=10)
    write(tmp_path / "xla.xml", tests=5)

    assert main([str(tmp_path)]) == 0
    assert last_line(capsys) == "15 passed, 0 failed in 2.50s"


def test_a_failure_is_shown_and_returned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "core.xml", tests=10, failures=2, skipped=1)

    assert main([str(tmp_path), "--status", "1"]) == 1
    assert last_line(capsys) == "7 passed, 2 failed, 1 skipped in 1.25s"


def test_a_failed_command_without_a_failed_test_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "core.xml", tests=10)

    assert main([str(tmp_path), "--status", "1"]) == 1
    assert last_line(capsys) == "10 passed, 0 failed, 1 error in 1.25s"


def test_no_test_at_all_is_not_a_success(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 1


def test_the_status_adds_nothing_when_a_test_explains_it() -> None:
    assert total([Results(passed=1, failed=1)], status=1) == Results(passed=1, failed=1)
