"""How Sphinx builds these pages: ``python -m sphinx -W -b html docs build/docs``."""

from pathlib import Path

import southwell

project, author = "southwell", "The southwell developers"
copyright = author
version = release = southwell.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
numpydoc_show_class_members = False
autosummary_generate = True
templates_path = ["templates"]
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5", "gallery/**/*.zip"]

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 3,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},  # the front page needs the width for its figure
}
html_sidebars = {"index": []}
html_static_path, html_css_files = ["static"], ["front.css"]
html_title = "southwell"
html_copy_source = False


def setup(app) -> None:
    app.connect("autodoc-skip-member", skipped)


def skipped(app, what, name, member, skip, options) -> bool | None:
    """What comes from scikit-learn is documented there."""
    module = getattr(member, "__module__", None) or ""
    return True if module.split(".")[0] in ("sklearn", "builtins") else None


EXAMPLES = Path(__file__).parent.parent / "examples"
sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "within_subsection_order": "FileNameSortKey",
}
