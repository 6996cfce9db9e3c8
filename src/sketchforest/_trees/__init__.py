"""Arrays in, arrays out: encode X, grow trees, store a forest, predict rows."""
