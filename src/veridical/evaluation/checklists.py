"""Reporting checklists, filled in as far as a choice can answer them.

The items are those of TRIPOD+AI [1]_ and REFORMS [2]_, named in our own words. An item
that the record answers comes with the evidence; the others are for the authors.

References
----------
.. [1] G. S. Collins et al., "TRIPOD+AI statement", BMJ 385, e078378, 2024.
.. [2] S. Kapoor et al., "REFORMS: Consensus-based recommendations for
   machine-learning-based science", Science Advances 10, eadk3452, 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from veridical._core.errors import InputError
from veridical._core.numbers import count, percent
from veridical._core.records import frame, write_setting
from veridical._core.text import did_you_mean, listing
from veridical.evaluation.choices import Choice

if TYPE_CHECKING:
    import pandas as pd

WriteEvidence = Callable[[Choice], str]


def _data(record: Choice) -> str:
    data = record.data
    size = f"{data.name}: {count(data.n_samples, 'sample')}, "
    size += count(data.n_features, "feature")
    if not data.classes:
        return f"{size}."
    classes = ", ".join(f"{name} {n}" for name, n in data.classes.items())
    return f"{size}; classes: {classes}."


def _hash(record: Choice) -> str:
    return f"SHA-256 of the table: {record.settings.get('table sha256', 'not stored')}."


def _how_to_repeat(record: Choice) -> str:
    how = record.settings.get("command") or record.settings.get("call", "")
    return f"{how} (random state {record.settings.get('random_state')})."


def _versions(record: Choice) -> str:
    return f"{record.settings.get('versions', 'see the page of the record')}."


def _predictors(record: Choice) -> str:
    own = len(record.features)
    what = f"{own} selected features" if own else "all features, or none"
    return (
        f"{count(record.data.n_features, 'candidate predictor')}; the final model uses "
        f"{what} (Choice.features)."
    )


def _model_choice(record: Choice) -> str:
    selectors = sorted({o.selector for o in record.found if not o.is_baseline})
    estimators = sorted({o.estimator for o in record.found if o.n_features})
    return (
        f"{count(len(record.found), 'candidate')}: selectors {listing(selectors)}; "
        f"{write_setting(record.settings.get('sizes'))} features; "
        f"estimators {listing(estimators)}. "
        f"Chosen by {record.scoring.full_label}: {record.winner.label}."
    )


def _internal_validation(record: Choice) -> str:
    return (
        f"{record.settings.get('cross-validation')}, selection and training inside "
        f"every training set; corrected for the choice by "
        f"{record.settings.get('correction')}."
    )


def _performance(record: Choice) -> str:
    info = record.scoring
    low, high = record.interval()
    return (
        f"{info.full_label} {info.write(record.score)} (95 % interval "
        f"{info.write_range(low, high)}); before the correction for the choice "
        f"{info.write(record.naive_score)}."
    )


def _baselines(record: Choice) -> str:
    info = record.scoring
    found = [f"{o.label}: {info.write(o.score.value)}" for o in record.baselines]
    return f"{'; '.join(found)}." if found else "None was evaluated."


def _tests(record: Choice) -> str:
    return (
        "Candidates were compared with the best by a bootstrap of multiple comparisons "
        f"with the best, level 5 %: {len(record.like_winner) - 1} of "
        f"{len(record.found) - 1} are not distinguishable from it."
    )


def _sample_size(record: Choice) -> str:
    unit = "group" if record.n_units < record.n_test else "sample"
    return (
        f"{count(record.n_test, 'sample')} tested, {count(record.n_units, unit)} "
        "drawn by the bootstrap. Whether that is enough is yours to justify."
    )


def _imbalance(record: Choice) -> str:
    classes = record.data.classes
    if not classes:
        return "The target has no classes."
    share = max(classes.values()) / sum(classes.values())
    done = "added, removed or weighted"
    if "largest sample weight" in record.settings:
        done = "added or removed, but they were weighted"
    return (
        f"The largest class holds {percent(share)} of the samples; no samples were "
        f"{done}."
    )


def _specification(record: Choice) -> str:
    return (
        "Choice.estimator_ is the fitted pipeline; save_estimator() writes it to a "
        "file of skops."
    )


def _leakage(record: Choice) -> str:
    grouped = record.n_units < record.n_test
    said = "Every step that learns was fitted inside the training sets."
    return f"{said} {'Groups were kept whole.' if grouped else ''}".strip()


def _groups(record: Choice) -> str:
    if record.n_units < record.n_test:
        return f"{record.n_units} groups were kept whole in splits and draws."
    return "Samples were treated as independent; no groups were given."


def _output(record: Choice) -> str:
    return (
        f"Predictions of {record.winner.estimator}; scored by {record.scoring.label}."
    )


_Item = tuple[str, str, str, WriteEvidence | None]

#: Items of TRIPOD+AI: number, section, topic, and what the record knows.
_TRIPOD: tuple[_Item, ...] = (
    ("1", "Title", "Says that a prediction model is developed or evaluated", None),
    ("2", "Abstract", "Follows the checklist for abstracts", None),
    (
        "3a",
        "Introduction",
        "Health context, purpose of the model, earlier models",
        None,
    ),
    ("3b", "Introduction", "Target population and place in the care pathway", None),
    ("3c", "Introduction", "Known inequalities between groups of people", None),
    ("4", "Introduction", "Objectives; development, evaluation or both", None),
    ("5a", "Methods: data", "Sources of the data, and why they represent", _data),
    ("5b", "Methods: data", "Dates of collection and follow-up", None),
    ("6a", "Methods: participants", "Setting, centres and their locations", None),
    ("6b", "Methods: participants", "Who was eligible", None),
    ("6c", "Methods: participants", "Treatments received, and how handled", None),
    ("7", "Methods: data", "Preparation and quality checks of the data", None),
    ("8a", "Methods: outcome", "Outcome, time horizon, how and why assessed", None),
    ("8b", "Methods: outcome", "Who assessed a subjective outcome", None),
    ("8c", "Methods: outcome", "Blinding of the assessment", None),
    ("9a", "Methods: predictors", "How initial predictors were chosen", None),
    ("9b", "Methods: predictors", "All predictors, how measured", _predictors),
    ("9c", "Methods: predictors", "Who assessed subjective predictors", None),
    ("10", "Methods: sample size", "How the size was arrived at", _sample_size),
    ("11", "Methods: missing data", "How missing values were handled", None),
    (
        "12a",
        "Methods: analysis",
        "How data were divided and used",
        _internal_validation,
    ),
    ("12b", "Methods: analysis", "How predictors entered the analysis", _predictors),
    ("12c", "Methods: analysis", "Type of model, steps, tuning", _model_choice),
    ("12d", "Methods: analysis", "Differences between clusters of samples", _groups),
    ("12e", "Methods: analysis", "Measures of performance and comparisons", _tests),
    ("12f", "Methods: analysis", "Updating of the model after evaluation", None),
    ("12g", "Methods: analysis", "How predictions are computed in evaluation", _output),
    ("13", "Methods: class imbalance", "Whether and how it was handled", _imbalance),
    ("14", "Methods: fairness", "Approaches to fairness, and why", None),
    ("15", "Methods: output", "What the model returns, and thresholds", _output),
    (
        *("16", "Methods: training and evaluation"),
        *("Differences between development and evaluation data", _internal_validation),
    ),
    ("17", "Methods: ethics", "Approval and consent", None),
    ("18a", "Open science", "Funding", None),
    ("18b", "Open science", "Conflicts of interest", None),
    ("18c", "Open science", "Where the protocol is", None),
    ("18d", "Open science", "Registration", None),
    ("18e", "Open science", "Availability of the data", None),
    ("18f", "Open science", "Availability of the code", _how_to_repeat),
    ("19", "Patient involvement", "Patients and public in the study", None),
    ("20a", "Results: participants", "Flow of participants, outcomes", _data),
    ("20b", "Results: participants", "Characteristics, missing values", None),
    ("20c", "Results: participants", "Development against evaluation data", None),
    ("21", "Results: development", "Samples and events in each analysis", _data),
    (
        "22",
        "Results: specification",
        "The full model, so that others use it",
        _specification,
    ),
    ("23a", "Results: performance", "Performance with intervals", _performance),
    ("23b", "Results: performance", "Differences between clusters", None),
    ("24", "Results: updating", "Results of any updating", None),
    ("25", "Discussion", "Interpretation, fairness, earlier studies", None),
    ("26", "Discussion", "Limitations", None),
    ("27a", "Discussion", "Poor or missing input data in use", None),
    ("27b", "Discussion", "Expertise that users need", None),
    ("27c", "Discussion", "Next steps for research", None),
)

#: Items of REFORMS.
_REFORMS: tuple[_Item, ...] = (
    ("1a", "Study design", "Population or distribution of the claim", None),
    ("1b", "Study design", "Why it was chosen", None),
    ("1c", "Study design", "Why machine learning is used", None),
    ("2a", "Reproducibility", "The data set, as used", _hash),
    ("2b", "Reproducibility", "The code", _how_to_repeat),
    ("2c", "Reproducibility", "The computing environment", _versions),
    ("2d", "Reproducibility", "Documentation of data, code and environment", None),
    ("2e", "Reproducibility", "A script that gives the results", _how_to_repeat),
    ("3a", "Data quality", "Sources of the data", None),
    ("3b", "Data quality", "Sampling frame", None),
    ("3c", "Data quality", "Why the data suit the question", None),
    ("3d", "Data quality", "The outcome variable", None),
    ("3e", "Data quality", "Number of samples", _data),
    ("3f", "Data quality", "Missing values", None),
    ("3g", "Data quality", "Whether the data represent the population", None),
    ("4a", "Preparation", "Samples left out, and why", None),
    ("4b", "Preparation", "Impossible or corrupt samples", None),
    ("4c", "Preparation", "Transformations", None),
    ("5a", "Modelling", "All models that were trained", _model_choice),
    ("5b", "Modelling", "Why these kinds of models", None),
    ("5c", "Modelling", "How performance was evaluated", _internal_validation),
    ("5d", "Modelling", "How the model was selected", _model_choice),
    ("5e", "Modelling", "Parameters and how they were chosen", _model_choice),
    ("5f", "Modelling", "Comparison with baselines", _baselines),
    ("6a", "Leakage", "Training and test sets are separate in every step", _leakage),
    ("6b", "Leakage", "Dependencies and duplicates between the sets", _groups),
    ("6c", "Leakage", "Every feature is legitimate for the task", None),
    ("7a", "Metrics and uncertainty", "Metrics of performance", _performance),
    ("7b", "Metrics and uncertainty", "Uncertainty of the performance", _performance),
    ("7c", "Metrics and uncertainty", "Statistical tests", _tests),
    ("8a", "Generalization", "Evidence of validity elsewhere", None),
    ("8b", "Generalization", "Contexts in which the claim does not hold", None),
)

CHECKLISTS = {"tripod+ai": _TRIPOD, "reforms": _REFORMS}


def fill_checklist(record: Choice, name: str) -> pd.DataFrame:
    """Fill in a checklist; see `Choice.checklist`."""
    if name not in CHECKLISTS:
        raise InputError(
            f"There is no checklist {name!r}{did_you_mean(name, CHECKLISTS)} Use one "
            f"of {', '.join(CHECKLISTS)}."
        )
    rows = [
        (
            item,
            section,
            topic,
            "yours" if find is None else "answered",
            "" if find is None else find(record),
        )
        for item, section, topic, find in CHECKLISTS[name]
    ]
    return frame(rows, "item", "section", "topic", "status", "evidence")
