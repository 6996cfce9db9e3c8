"""Sphinx configuration: `make docs`. The build downloads nothing and fails on any warning."""

import sys
from pathlib import Path

from sketchforest import __version__

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE / "figures"), str(HERE.parent)]

# Pages with wide tables, which need the room of the sidebar on the right.
WIDE = ["accuracy", "ecosystem", "migrating", *(f"study/{p.stem}" for p in HERE.glob("study/*.md"))]

project = "sketchforest"
author = "The sketchforest developers"
copyright = "The sketchforest developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "benchmark_table",  # benchmark tables from the measurements
    "command_line",  # command reference from the commands themselves
    "gallery_links",  # links to examples/ point to the gallery
    "own_members",  # leaves out members inherited from other libraries
    "paper_report",  # copies docs/paper unchanged
]
exclude_patterns = ["_build", "_templates", "paper/**"]
templates_path = ["_templates"]
# `backticks` in docstrings link to the object of that name, if there is one.
default_role = "py:obj"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # most quotes on these pages are code

autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {"figure.constrained_layout.use": True, "svg.hashsalt": "sketchforest"}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("sketchforest",),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # these pages would load external scripts
    "remove_config_comments": True,
    "reference_url": {"sketchforest": None},
}

html_theme = "pydata_sphinx_theme"
html_title = "sketchforest"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"sketchforest {version}"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        **{name: [] for name in WIDE},
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Top-level pages need no sidebar, and pages with wide tables have no room for one.
html_sidebars = {
    name: [] for name in ("index", "tutorial", "how-it-works", "comparison", "accuracy")
}
