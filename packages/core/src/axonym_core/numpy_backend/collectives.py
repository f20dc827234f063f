"""Collectives have no evaluation: mapping transformations replace them (see the primitives)."""
