"""What the packages' metadata must say alike."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))


def project(package: Path) -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    return table


def test_there_are_nine_packages() -> None:
    assert len(PACKAGES) == 9


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_carries_the_licence_of_the_repository(package: Path) -> None:
    assert (package / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert project(package)["license"] == "Apache-2.0"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_is_typed_and_has_a_changelog_of_its_version(package: Path) -> None:
    import_name = str(project(package)["name"]).replace("-", "_")

    assert (package / "src" / import_name / "py.typed").is_file()
    assert f"## {project(package)['version']}" in (package / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_siblings_are_asked_for_by_range(package: Path) -> None:
    requirements = project(package)["dependencies"]

    assert isinstance(requirements, list)
    for requirement in requirements:
        if requirement.startswith("axonym"):
            assert ">=" in requirement
            assert ",<" in requirement
