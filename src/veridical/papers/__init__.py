"""One file per paper: its grid, its published figures, its findings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from veridical._core.errors import InputError

if TYPE_CHECKING:
    from veridical.experiments import Study

#: Studies by name: what each asks, and the module that holds it as ``STUDY``.
_STUDIES = {
    "in-vs-out": (
        "Which protocol finds the better of two selectors, IN or OUT? "
        "(Refaeilzadeh, Tang & Liu 2007)",
        "in_vs_out",
    ),
    "lufe": (
        "Do features that were not selected help to learn? (Taylor et al. 2016)",
        "lufe",
    ),
    "accuracy-estimation": (
        "Which estimate of accuracy can be trusted: cross-validation, with how many "
        "folds, or the bootstrap? (Kohavi 1995)",
        "accuracy_estimation",
    ),
    "bias-corrected-bayes": (
        "Do probabilities become honest when a model is told what selection "
        "discarded? (Li, Zhang & Neal 2008)",
        "bias_corrected_bayes",
    ),
    "differential-prioritization": (
        "How much should relevance count against antiredundancy, with how many "
        "classes? (Ooi, Chetty & Teng 2006)",
        "differential_prioritization",
    ),
}


def available() -> dict[str, str]:
    """List the studies: name and question. Nothing is loaded."""
    return {name: question for name, (question, _) in _STUDIES.items()}


def find_study(name: str) -> Study:
    """Load a study by its name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in _STUDIES:
        from veridical._core.text import did_you_mean

        raise InputError(
            f"There is no study {name!r}{did_you_mean(name, _STUDIES)} Use one of "
            f"{', '.join(_STUDIES)}."
        )
    module: Any = import_module(f"{__name__}.{_STUDIES[name][1]}")
    return module.STUDY
