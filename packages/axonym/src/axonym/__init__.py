"""Composable function transformations on named axes: grad, jit, vmap, xmap on NumPy and XLA."""
