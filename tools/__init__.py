"""Scripts for working on the repository; none of them is part of a distribution."""
