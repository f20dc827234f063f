"""Processes and devices of a run: counts, indices, start-up and shutdown."""
