"""Counter-based random numbers with typed keys."""
