"""The command line, with one file per command."""

from sketchforest.cli.app import app, main

__all__ = ["app", "main"]
