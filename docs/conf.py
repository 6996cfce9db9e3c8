"""The documentation site: `make docs`. Nothing is downloaded, and a warning fails the build."""

import sys
from pathlib import Path

from sketchforest import __version__

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE / "figures"), str(HERE.parent)]

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
    "benchmark_table",  # figures, made from the files of measurements
    "command_line",  # the reference of the commands, made from the commands
    "gallery_links",  # examples/ in the repository, the gallery on the site
    "own_members",  # what classes inherit from scikit-learn is described there
    "paper_report",  # docs/paper as it is
]
exclude_patterns = ["_build", "_templates", "paper/**"]
templates_path = ["_templates"]
# A name in `backticks` of a docstring is a link where there is something of that name.
default_role = "py:obj"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # quotes on these pages are mostly code

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say it in words
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
    "write_computation_times": False,  # on pages that load scripts from elsewhere
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
    "logo": {"text": "sketchforest"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages of one level have nothing beside them.
html_sidebars = {name: [] for name in ("index", "tutorial", "how-it-works", "cli", "comparison")}
