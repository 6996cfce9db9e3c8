"""Leaves out what classes inherit from other libraries: it is described there."""


def is_foreign(app, what, name, obj, skip, options):
    defined_by = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(defined_by, "__module__", None)
    return True if module and not module.startswith("sketchforest") else None


def setup(app):
    app.connect("autodoc-skip-member", is_foreign)
    return {"parallel_read_safe": True}
