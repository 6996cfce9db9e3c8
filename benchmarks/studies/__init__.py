"""The studies that chose the defaults: `components` and `tuning`, over many data sets."""
