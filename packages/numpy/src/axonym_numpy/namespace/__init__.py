"""What the namespace tells of itself, and the methods of arrays."""
