"""Functions of one element, or of elements in one place."""
