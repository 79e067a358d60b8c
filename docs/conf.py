"""Sphinx configuration; `make docs` builds with warnings as errors."""

from veridical import __version__

project = "veridical"
copyright = "2026, The veridical developers"
release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
myst_enable_extensions = ["dollarmath", "deflist"]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"veridical {release}"
html_static_path: list[str] = []
# scikit-learn's mixins bring docstrings written for its own site.
suppress_warnings = ["ref.python", "docutils"]
