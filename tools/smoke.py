"""Try the installed packages as a user would who has just installed the wheels.

Run by `nox -s build` in an environment that holds nothing but the wheels and what they declare.
It fails when a package comes from anywhere else than site-packages, lacks its `py.typed` or its
licence, when `python -m axonym` fails, or when a small program does not give the right numbers.
"""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution, entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGES = ("core", "autodiff", "mapping", "compile", "xla", "distributed", "numpy", "random")
DISTRIBUTIONS = ("axonym", *(f"axonym-{package}" for package in PACKAGES))


def import_name(name: str) -> str:
    """Return the name under which a distribution is imported."""
    return name.replace("-", "_")


def faults_of_install(name: str, site: Path) -> list[str]:
    """Say what is wrong with the installed files of a distribution; nothing if all is well."""
    module = importlib.import_module(import_name(name))
    folder = Path(module.__file__ or "").resolve().parent
    faults = []
    if not folder.is_relative_to(site):
        faults.append(f"{name} was imported from {folder}, not from {site}")
    if not (folder / "py.typed").is_file():
        faults.append(f"{name} has no py.typed")
    files = [str(file) for file in distribution(name).files or ()]
    if not any(file.endswith("licenses/LICENSE") for file in files):
        faults.append(f"{name} carries no licence")
    if any("tests/" in file for file in files):
        faults.append(f"{name} installs its tests")
    return faults


def faults_of_backends() -> list[str]:
    """Say which backend cannot be found or loaded through its entry point."""
    found = {point.name: point for point in entry_points(group="axonym.backends")}
    faults = [f"no backend named {name!r}" for name in ("numpy", "xla") if name not in found]
    for point in found.values():
        point.load()
    return faults


def faults_of_program() -> list[str]:
    """Run jit, grad and vmap together and compare with mathematics."""
    ax = importlib.import_module("axonym")
    anp = importlib.import_module("axonym.numpy")
    slopes = ax.jit(ax.vmap(ax.grad(lambda x: anp.sin(x) * x)))
    points = [0.0, 0.5, 2.0]
    faults = []
    for point, slope in zip(points, slopes(anp.array(points)).tolist(), strict=True):
        expected = math.sin(point) + point * math.cos(point)
        if not math.isclose(slope, expected, rel_tol=1e-5, abs_tol=1e-6):
            faults.append(f"the slope of x sin x at {point} is {slope}, should be {expected}")
    return faults


def faults_of_report() -> list[str]:
    """Run `python -m axonym` away from any checkout."""
    with TemporaryDirectory() as away:
        command = [sys.executable, "-m", "axonym"]
        done = subprocess.run(command, cwd=away, capture_output=True, text=True, check=False)
    print(done.stdout)
    if done.returncode or "axonym" not in done.stdout:
        return [f"`python -m axonym` exited with {done.returncode}:\n{done.stderr}"]
    return []


def main() -> int:
    """Print the faults; return the exit status."""
    site = Path(sysconfig.get_path("purelib")).resolve()
    faults = [fault for name in DISTRIBUTIONS for fault in faults_of_install(name, site)]
    faults += faults_of_backends() + faults_of_program() + faults_of_report()
    if "jax" in sys.modules:
        faults.append("jax was imported")
    for fault in faults:
        print(f"smoke: {fault}")
    print("smoke: failed" if faults else f"smoke: {len(DISTRIBUTIONS)} packages are well")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
