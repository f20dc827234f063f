"""Development sessions of Axonym. `nox -l` lists them.

Environments are made with uv where it is installed and with virtualenv and pip elsewhere. The
packages of an environment are computed from their own metadata: `install` reads which siblings a
package declares and adds them as editable installs from this checkout, and nothing more. A
dependency that is used but not declared is therefore an ImportError in `nox -s tests`.

    nox -s tests                              every package, then the integration tests
    nox -s tests -- core numpy -k broadcast   two packages, the rest goes to pytest
    nox -s tests-matrix-3.12                  the same tests on another Python
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False  # a missing Python is reported as skipped
nox.options.download_python = "never"
nox.options.sessions = ["lint", "tests"]

ROOT = Path(__file__).parent
PACKAGES = [
    "core",
    "autodiff",
    "mapping",
    "compile",
    "xla",
    "distributed",
    "numpy",
    "random",
    "axonym",
]
INTEGRATION = "integration"  # the last suite of `tests`: everything together
SUITES = [*PACKAGES, INTEGRATION]
REPORTS = ROOT / ".nox" / "reports"
PYTHONS = ["3.11", "3.12", "3.13"]

# pyenv puts on PATH only the versions that are switched on in a folder; offer the others, last.
pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
for version in PYTHONS:
    for binaries in sorted(pyenv.glob(f"{version}.*/bin")):
        os.environ["PATH"] += os.pathsep + str(binaries)


def metadata(package: str) -> dict[str, Any]:
    """The parsed pyproject.toml of a package."""
    return nox.project.load_toml(ROOT / "packages" / package / "pyproject.toml")


def with_siblings(*packages: str) -> list[str]:
    """The packages and the siblings that they declare, transitively, in the order of PACKAGES."""
    found: set[str] = set()
    waiting = list(packages)
    while waiting:
        package = waiting.pop()
        found.add(package)
        for requirement in metadata(package)["project"]["dependencies"]:
            sibling = re.match(r"axonym-(\w+)", requirement)
            if sibling and sibling[1] not in found:
                waiting.append(sibling[1])
    return [package for package in PACKAGES if package in found]


def group(name: str, package: str | None = None) -> list[str]:
    """The requirements of a dependency group, of a package or of the whole repository."""
    table = metadata(package) if package else nox.project.load_toml(ROOT / "pyproject.toml")
    return list(nox.project.dependency_groups(table, name))


def install(session: nox.Session, *packages: str, extra: list[str]) -> None:
    """Install packages with their declared siblings, editable, and some requirements."""
    editable = [part for p in with_siblings(*packages) for part in ("-e", f"./packages/{p}")]
    session.install(*editable, *extra)


def run_tests(session: nox.Session, suite: str) -> None:
    """Run the tests of one package, or the integration tests, in the session's environment."""
    pytest_args = list(session.posargs)
    wanted = []
    while pytest_args and pytest_args[0] in SUITES:
        wanted.append(pytest_args.pop(0))
    if wanted and suite not in wanted:
        session.skip(f"not among {', '.join(wanted)}")

    if suite == INTEGRATION:
        install(session, *PACKAGES, extra=group("integration"))
        paths = ["tests-integration", "tools"]
    else:
        install(session, suite, extra=group("test", suite))
        paths = [f"packages/{suite}/tests", f"packages/{suite}/src"]
    if any("/" in arg and (ROOT / arg.split("::")[0]).exists() for arg in pytest_args):
        paths = []  # the caller named files

    name = session.name.replace("(", "-").replace(")", "")
    session.run(
        *("python", "-m", "pytest", *paths, "--doctest-modules"),
        *(f"--junitxml={REPORTS / name}.xml", *pytest_args),
        success_codes=[0, 5] if pytest_args else [0],  # a -k may select nothing in a package
    )


@nox.session
@nox.parametrize("suite", SUITES, ids=SUITES)
def tests(session: nox.Session, suite: str) -> None:
    """Test each package with only what it declares, then all of them together."""
    run_tests(session, suite)


@nox.session(name="tests-matrix", python=PYTHONS)
@nox.parametrize("suite", SUITES, ids=SUITES)
def tests_matrix(session: nox.Session, suite: str) -> None:
    """The same tests on every supported Python; one that is not installed is skipped."""
    run_tests(session, suite)


@nox.session
def minimal(session: nox.Session) -> None:
    """Train a small model on NumPy alone, in an environment that has no jaxlib."""
    install(session, "core", "autodiff", "mapping", "numpy", extra=[])
    absent = "import importlib.util as u; assert u.find_spec('jaxlib') is None, 'jaxlib is here'"
    session.run("python", "-c", absent)
    session.run("python", "tests-integration/minimal_model.py", *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Train a classifier of handwritten digits and find the hardest ones."""
    install(session, *PACKAGES, extra=group("demo"))
    session.run("python", "docs/examples/digits.py", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, lint rules, types (mypy --strict), import contracts and module sizes."""
    install(session, *PACKAGES, extra=[*group("lint"), *group("types")])
    session.run("ruff", "format", "--check")
    session.run("ruff", "check")
    session.run("mypy")
    session.run("lint-imports")
    session.run("python", "tools/check_sizes.py")


@nox.session(name="format")
def format_(session: nox.Session) -> None:
    """Rewrite the sources as `lint` wants them, as far as ruff can."""
    session.install(*group("lint"))
    session.run("ruff", "check", "--fix", "--exit-zero")
    session.run("ruff", "format")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site in docs/_build/html: notebooks executed, every warning an error."""
    install(session, *PACKAGES, extra=group("docs"))
    html = ROOT / "docs" / "_build" / "html"
    session.run("sphinx-build", "-n", "-W", "--keep-going", *session.posargs, "docs", str(html))


@nox.session
def bench(session: nox.Session) -> None:
    """Measure Axonym beside jax on the same jaxlib: a table of ratios, and JSON."""
    install(session, *PACKAGES, extra=group("bench"))
    session.run("python", "-m", "tools.bench", *session.posargs)


@nox.session
def planted(session: nox.Session) -> None:
    """Plant faults into copies of the sources and see whether tests find them; name survivors."""
    install(session, *PACKAGES, extra=group("integration"))
    session.run("python", "-m", "tools.planted", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build sdists and wheels of all packages into dist/ and smoke-test the wheels."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.install("build>=1.2", "hatchling>=1.27")
    for package in PACKAGES:
        session.run(
            *("python", "-m", "build", "--no-isolation", "--outdir", "dist"), f"packages/{package}"
        )
    session.notify("smoke")


@nox.session(default=False)
def smoke(session: nox.Session) -> None:
    """Install the wheels of dist/ into a fresh environment and try them (run by `build`)."""
    wheels = sorted(str(wheel) for wheel in (ROOT / "dist").glob("*.whl"))
    session.install("--find-links", "dist", *wheels)
    session.run("python", "tools/smoke.py")
