"""`python -m axonym`: the environment report."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys

import platformdirs
import pytest

from axonym._report import PACKAGES, _version, report, sections
from axonym_core import config


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "axonym", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_report_is_printed() -> None:
    done = run(AXONYM_NUM_CPU_DEVICES="3", AXONYM_BACKEND="xla")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "  devices  3 (cpu:0, cpu:1, cpu:2)" in done.stdout
    assert "  AXONYM_NUM_CPU_DEVICES  3" in done.stdout
    for title in ("Packages", "Dependencies", "System", "Backends", "Cache"):
        assert f"\n{title}\n" in f"\n{done.stdout}"


def test_the_numpy_backend_is_reported_too() -> None:
    done = run(AXONYM_BACKEND="numpy")
    assert "  default  numpy" in done.stdout
    assert "  devices  1 (" in done.stdout


def test_what_went_wrong_is_part_of_the_report() -> None:
    done = run(AXONYM_BACKEND="nowhere")
    assert done.returncode == 0
    assert "error  BackendError: backend 'nowhere' is not installed" in done.stdout

    done = run(AXONYM_NUM_CPU_DEVICES="many", AXONYM_BACKEND="xla")
    assert done.returncode == 0
    assert "error    ClientError: AXONYM_NUM_CPU_DEVICES must be a number" in done.stdout


def test_many_devices_are_counted() -> None:
    done = run(AXONYM_NUM_CPU_DEVICES="10", AXONYM_BACKEND="xla")
    assert "10 (cpu:0, cpu:1, " in done.stdout
    assert "cpu:7, and 2 more)" in done.stdout


def test_versions_are_those_that_are_installed() -> None:
    found = sections()
    assert list(found["Packages"]) == list(PACKAGES)
    for group in ("Packages", "Dependencies"):
        for name, version in found[group].items():
            assert version == importlib.metadata.version(name)
    assert found["System"]["Python"] == platform.python_version()


def test_the_cache_folder_is_the_users() -> None:
    folder = sections()["Cache"]["folder"]
    assert folder == platformdirs.user_cache_dir("axonym", appauthor=False)


def test_only_variables_that_matter_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/nowhere")
    text = report()
    assert "hidden" not in text
    assert "--xla_dump_to=/nowhere" in text


def test_values_of_variables_that_nobody_knows_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AXONYM_TOKEN", "AXONYM_BACKNED", "XLA_SECRET", "axonym_check"):
        monkeypatch.setenv(name, "hidden")
    rows = sections()["Environment variables"]

    assert "hidden" not in report()
    assert "XLA_SECRET" not in rows
    assert rows["AXONYM_BACKNED"].endswith("did you mean AXONYM_BACKEND?")
    assert rows["axonym_check"].endswith("did you mean AXONYM_CHECK?")
    assert rows["AXONYM_TOKEN"].startswith("warning: nothing reads this variable")


def test_backends_are_named() -> None:
    with config.override(backend="numpy"):
        found = sections()["Backends"]
    assert found["found"] == "numpy, xla"
    assert found["default"] == "numpy"


def test_arguments_that_do_not_exist_are_refused() -> None:
    done = run("--nothing")
    assert done.returncode == 2
    assert "unrecognized arguments: --nothing" in done.stderr
    assert "environment" in run("--help").stdout


def test_a_package_that_is_missing_is_reported_as_such() -> None:
    assert _version("axonym-no-such-package") == "not installed"


def test_modules_list_their_names_before_they_are_used() -> None:
    program = "import axonym, axonym.lax; print({'grad', 'vmap', 'lax'} <= {*dir(axonym)})"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "True\n", done.stderr
