"""The command line: one file a command."""

from sketchforest.cli.app import app, main

__all__ = ["app", "main"]
