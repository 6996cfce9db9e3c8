"""Scores on rows that trees did not see, learning curves, and choices made by them."""
