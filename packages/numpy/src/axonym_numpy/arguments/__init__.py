"""Arguments of functions: arrays, numbers, settings, axes."""
