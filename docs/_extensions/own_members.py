"""Skip members inherited from other libraries, which document them."""


def is_foreign(app, what, name, obj, skip, options):
    defined_by = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(defined_by, "__module__", None)
    return True if module and not module.startswith("sketchforest") else None


def setup(app):
    app.connect("autodoc-skip-member", is_foreign)
    return {"parallel_read_safe": True}
