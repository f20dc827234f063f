"""Sums and their kin, whole and running."""
