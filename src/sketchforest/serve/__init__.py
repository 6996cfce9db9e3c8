"""Models as a service: a page to type in, and JSON for programs. Needs sketchforest[serve]."""
