"""Train on files, evaluate on files, and read rows in the form a model needs."""
