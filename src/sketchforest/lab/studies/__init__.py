"""The studies that chose the defaults."""
