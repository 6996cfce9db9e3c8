"""What a fit does: check the input, encode it, grow the trees, score them."""
