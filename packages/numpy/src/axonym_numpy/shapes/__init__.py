"""Shapes of arrays, and elements in other places."""
