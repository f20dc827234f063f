"""Means, spreads, quantiles, counts, and series."""
