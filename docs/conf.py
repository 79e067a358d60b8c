"""Sphinx configuration; `make docs` builds with warnings as errors."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

sys.path.insert(0, str(Path(__file__).parent))
import registries

from veridical import __version__

project = "veridical"
copyright = "2026, The veridical developers"
release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"veridical {release}"
html_static_path = ["_static"]
html_css_files = ["gallery.css", "formulas.css"]
html_math_renderer = "mathml"
# scikit-learn's mixins bring docstrings written for its own site.
suppress_warnings = ["ref.python", "docutils", "config.cache"]

# The colours of our own pages; the first two are the two sides of a comparison.
COLOURS = ["#0b62b3", "#b24a00", "#146c3c", "#7b838d", "#7d5200", "#a3261a"]


def style_pictures(gallery_conf: dict[str, Any], fname: str) -> None:
    """Give every script of the gallery the same look to begin with."""
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=COLOURS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.dpi": 100,
        }
    )


class AsListed:
    """Put scripts in the order of the list below, unlisted ones last."""

    order = (
        "leak_on_noise",
        "in_against_out",
        "audit",
        "what_a_p_value_is_worth",
        "sensitivity",
        "estimates_against_the_truth",
        "how_many_features",
        "only_together",
        "stability",
        "ddp_path",
        "lufe",
        "calibration_after_selection",
        "c45_beside_j48",
        "frames",
        "grid_search",
        "study_from_toml",
    )

    def __init__(self, src_dir: str) -> None:
        pass

    def __call__(self, filename: str) -> tuple[int, str]:
        """Give the key to sort by."""
        name = filename.removeprefix("plot_").removesuffix(".py")
        place = self.order.index(name) if name in self.order else len(self.order)
        return place, name


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/{room}" for room in ("believe", "select", "learn", "ecosystem")
    ],
    "within_subsection_order": AsListed,
    "abort_on_example_error": True,  # a script that fails, fails the build
    "reset_modules": ("matplotlib", style_pictures),
    "backreferences_dir": "gallery/uses",
    "doc_module": ("veridical",),
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "show_signature": False,
    "plot_gallery": True,
    "download_all_examples": False,
    "write_computation_times": False,  # those of a busy machine say nothing
}


# -- formulas: browsers set them, so that no page loads anything ----------------------


def write_formula(self: Any, node: nodes.Element) -> None:
    """Write a formula as MathML; one that cannot be read fails the build."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula: %s", error, location=node)
        formula = self.encode(node.astext())
    self.body.append(f'<div class="math">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def fill_lists(app: Any, page: str, source: list[str]) -> None:
    """Put what comes from registries where a page has its mark."""
    source[0] = registries.fill(source[0])


def setup(app: Any) -> None:
    """Have Sphinx write formulas and lists as above."""
    app.connect("source-read", fill_lists)
    renderer = (write_formula, None)
    app.add_html_math_renderer("mathml", renderer, renderer)
