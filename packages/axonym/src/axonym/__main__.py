"""`python -m axonym`: print the environment report."""

from __future__ import annotations

import argparse

from ._report import report


def main() -> None:
    """Print the report."""
    argparse.ArgumentParser(
        prog="python -m axonym",
        description="Print versions, backends, devices, the cache folder and the environment.",
    ).parse_args()
    print(report())


if __name__ == "__main__":
    main()
