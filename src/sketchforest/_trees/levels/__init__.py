"""Trees grown level by level on array code, of NumPy or of a GPU."""
