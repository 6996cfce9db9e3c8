"""From files to models and back: training, evaluation, rows as a model wants them."""
