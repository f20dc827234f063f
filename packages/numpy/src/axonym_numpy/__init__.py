"""A NumPy-like namespace on traced arrays with named axes."""
