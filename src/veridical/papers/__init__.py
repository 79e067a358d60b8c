"""Studies of five papers, LeakBench, and the studies of other packages.

A study is a `veridical.experiments.PaperStudy`. A package offers one by an entry point
of the group ``veridical.studies``: the name of the study, and the place of an instance.
Ours are declared in the same way, and are also found without installation.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veridical.experiments import PaperStudy

#: Group of the entry points of studies.
GROUP = "veridical.studies"

#: Our studies by name: research question, and place of the instance.
_STUDIES = {
    "in-vs-out": (
        "Which protocol finds the better of two selectors, IN or OUT? "
        "(Refaeilzadeh, Tang & Liu 2007)",
        "veridical.papers.in_vs_out.study:STUDY",
    ),
    "lufe": (
        "Do features that were not selected help to learn? (Taylor et al. 2016)",
        "veridical.papers.lufe.study:STUDY",
    ),
    "accuracy-estimation": (
        "Which estimate of accuracy can be trusted: cross-validation, with how many "
        "folds, or the bootstrap? (Kohavi 1995)",
        "veridical.papers.accuracy_estimation.study:STUDY",
    ),
    "bias-corrected-bayes": (
        "Are probabilities calibrated when a model accounts for the features that "
        "selection discarded? (Li, Zhang & Neal 2008)",
        "veridical.papers.bias_corrected_bayes.study:STUDY",
    ),
    "differential-prioritization": (
        "How much should relevance count against antiredundancy, with how many "
        "classes? (Ooi, Chetty & Teng 2006)",
        "veridical.papers.differential_prioritization.study:STUDY",
    ),
    "leakbench": (
        "How often does an audit find a planted mistake, and how often does it raise a "
        "false alarm?",
        "veridical.leakbench.study:STUDY",
    ),
}

#: Studies that repeat no paper; ``veridical study run --all`` leaves them out.
NOT_OF_A_PAPER = frozenset({"leakbench"})

__all__ = ["GROUP", "NOT_OF_A_PAPER", "available", "find_study", "names"]


def _entries() -> dict[str, EntryPoint]:
    """Return the entry points of all studies; ours take precedence."""
    entries = {
        name: EntryPoint(name, place, GROUP) for name, (_, place) in _STUDIES.items()
    }
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        entries.setdefault(entry.name, entry)
    return entries


def names() -> list[str]:
    """Return the names of the studies, ours first, without loading them."""
    return list(_entries())


def available() -> dict[str, str]:
    """Return the studies by name, with their questions.

    Ours are not loaded for it. A study of another package that cannot be loaded is
    listed with the reason.
    """
    from veridical.experiments import InputError

    listed = {name: question for name, (question, _) in _STUDIES.items()}
    for name in names():
        if name not in listed:
            try:
                listed[name] = find_study(name).question
            except InputError as error:
                listed[name] = str(error)
    return listed


def find_study(name: str) -> PaperStudy:
    """Load a study by its name.

    Raises
    ------
    InputError
        If there is no study of that name, or it cannot be loaded.
    """
    from veridical.experiments import InputError, PaperStudy, refuse_unknown

    entries = _entries()
    try:
        refuse_unknown("study", [name], entries)
    except ValueError as error:
        raise InputError(f"T{str(error)[1:]}.") from None
    entry = entries[name]
    try:
        study = entry.load()
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"The study {name!r} ({entry.value}) cannot be loaded ({reason}); update "
            "or remove the package it comes from."
        ) from error
    if not isinstance(study, PaperStudy) or study.name != name:
        raise InputError(
            f"The study {name!r} ({entry.value}) is not a "
            "veridical.experiments.PaperStudy of that name; update or remove the "
            "package it comes from."
        )
    return study
