from __future__ import annotations

from pathlib import Path

import pytest

from tools import smoke


def test_an_import_from_elsewhere_than_site_packages_is_a_fault(tmp_path: Path) -> None:
    faults = smoke.faults_of_install("axonym-core", tmp_path)

    assert any("was imported from" in fault for fault in faults)


def test_an_installed_package_is_typed() -> None:
    assert not any("py.typed" in fault for fault in smoke.faults_of_install("axonym-core", Path()))


@pytest.mark.parametrize("package", smoke.PACKAGES)
def test_the_list_of_packages_is_the_folder(package: str) -> None:
    folder = Path(__file__).resolve().parents[2] / "packages"

    assert (folder / package / "pyproject.toml").is_file()
    assert len(list(folder.glob("*/pyproject.toml"))) == len(smoke.DISTRIBUTIONS)
