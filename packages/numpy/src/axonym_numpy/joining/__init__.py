"""Arrays made of several."""
