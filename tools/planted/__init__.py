"""Faults planted into the sources, to see whether the tests find them: `nox -s planted`."""
