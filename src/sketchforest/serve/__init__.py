"""Serve models over HTTP: a web page for people, JSON for programs. Needs sketchforest[serve]."""
