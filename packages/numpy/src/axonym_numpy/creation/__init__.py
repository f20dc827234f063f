"""Arrays from numbers, and dtypes by name."""
