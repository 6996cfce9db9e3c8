"""``python -m sketchforest`` is the command ``sketchforest``."""

from sketchforest.cli import main

main()
