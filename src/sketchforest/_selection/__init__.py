"""Out-of-bag scores, learning curves, and the choice of settings by them."""
