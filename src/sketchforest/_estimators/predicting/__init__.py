"""From averages over trees to labels, classes and numbers."""
