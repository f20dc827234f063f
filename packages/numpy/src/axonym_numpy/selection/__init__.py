"""Elements by position, by order and by what they are."""
