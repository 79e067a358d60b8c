"""Every kind of page that there is, with the words on it given from outside.

A builder takes ``say``: it is called with each name, sentence or path that a user or
a file may choose, and gives what shall stand there. So one catalogue serves the looks
of the pages (say nothing else) and attacks on them (say markup everywhere).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from tests.report import audit_records, estimates_records, records, small_records
from tests.report.page_texts import Say, gene, names, settings
from tests.report.study_pages import finished, studies, study, watched, young

from veridical import report
from veridical._core.records import DataSummary, Interval
from veridical.auditing.records import Preselection
from veridical.comparison import compare, sensitivity
from veridical.datasets import make_survival
from veridical.discovery import Discoveries, MeasuredRate, StabilityPath
from veridical.evaluation import choose, estimate
from veridical.evaluation.records import (
    ClassResult,
    Correction,
    Coverage,
    Dependence,
    ScoreDifference,
    SelectedFeature,
    Selection,
)


def kinds() -> set[type]:
    """Name all kinds of records that have a view."""
    return set(report.view.registry) - {object}


def comparison(say: Say, make=records.honest, n: int = 60, **options) -> str:
    """Two selectors."""
    estimators = options.pop("estimators", ("SVM",))
    record = make(
        names=(say("ReliefF"), say("FCBF")),
        estimators=tuple(map(say, estimators)),
        feature_names=names(say, n),
        class_names=(say("normal"), say("tumour")),
        data_name=say("colon.csv"),
        **options,
    )
    record = replace(
        record,
        recommendation=say("Report the accuracy under IN."),
        settings={**record.settings, **settings(say, "compare")},
        stability={"in": (Interval(0.62, 0.5, 0.74),) * 2},
        seconds=(1.25, 0.033),
    )
    return report.page(record)


def comparison_of_many_features(say: Say) -> str:
    """Two selectors that agree on nothing, on many features."""
    record = records.honest(feature_names=names(say, 200), n_repeats=10)
    rng = np.random.default_rng(0)
    wide = {
        method: np.minimum(199, rng.geometric(0.03, chosen.shape))
        for method, chosen in record.selected.items()
    }
    return report.page(replace(record, selected=wide))


class _Fixed:
    """Ranks the features in an order of its own."""

    def __init__(self, shift: int) -> None:
        self.shift = shift

    def rank_many(self, X, y, train_sets):
        return [np.roll(np.arange(X.shape[1]), self.shift) for _ in train_sets]


@cache
def _many():
    rng = np.random.default_rng(0)
    y = np.resize(["normal", "tumour"], 100)
    X = rng.normal(size=(100, 9)) + 0.7 * (y == "tumour")[:, None] * (np.arange(9) < 4)
    shifts = {"ReliefF": 0, "mRMR": -1, "FCBF": -3, "SVM-RFE": -6, "AnovaF": 1}
    selectors = {name: _Fixed(shift) for name, shift in shifts.items()}
    return compare(
        selectors, X, y, n_features_to_select=3, estimator="nb", random_state=0
    )


def many(say: Say) -> str:
    """Several selectors."""
    base = _many()
    record = replace(
        base,
        names=tuple(say(name) for name in base.names),
        estimators=tuple(say(name) for name in base.estimators),
        data=_renamed(base.data, say),
        recommendation=say(base.recommendation),
        settings={**base.settings, **settings(say, "compare")},
    )
    return report.page(record)


def _renamed(data: DataSummary, say: Say) -> DataSummary:
    return replace(
        data,
        name=say("colon.csv"),
        classes={say(name): n for name, n in data.classes.items()},
        feature_names=tuple(say(name) for name in data.feature_names),
    )


def estimates(say: Say, make=estimates_records.with_failure) -> str:
    """One estimator, several methods."""
    record = make(
        name=say("colon.csv"),
        estimator=say("C4.5"),
        class_names=(say("normal"), say("tumour")),
        settings=settings(say, "estimate"),
    )
    found = tuple(
        replace(
            one,
            method=say(one.method),
            notes=tuple(say(note) for note in one.notes),
            assumes={kind: say(text) for kind, text in one.assumes.items()},
        )
        for one in record.estimates
    )
    return report.page(replace(record, estimates=found))


def audit(say: Say) -> str:
    """Features that were selected beforehand, on noise."""
    features = names(say, 40)
    found = [
        audit_records.finding(
            title=say("Selection saw the test fold"),
            evidence=say("The features were selected on all samples."),
            cure=say("Select inside each training fold."),
        ),
        audit_records.finding(
            "VD004",
            "warning",
            title=say("Too few samples"),
            evidence=say("An interval of 37 points."),
            cure=say("Say so."),
        ),
        audit_records.finding(
            "VD007",
            "note",
            title=say("Classes are uneven"),
            evidence=say("30 of 50."),
            cure=say("Report the balanced accuracy."),
        ),
    ]
    chosen = Preselection(
        tuple(range(0, 40, 2)),
        say("anova"),
        False,
        {say("anova"): 20, say("relieff"): 7},
        0.002,
    )
    record = audit_records.leaky(
        *found,
        name=say("genes.csv"),
        estimator=say("svm"),
        feature_names=features,
        class_names=(say("normal"), say("tumour")),
        preselection=chosen,
        settings=settings(say, "audit"),
    )
    return report.page(record)


def honest_audit(say: Say) -> str:
    """Nothing against it."""
    record = audit_records.audit(name=say("genes.csv"), settings=settings(say, "audit"))
    return report.page(record)


def survival(say: Say) -> str:
    """A survival time: risk groups and calibration."""
    X, y = make_survival(120, 4, 4, strength=2.0, random_state=0)
    frame = pd.DataFrame(X, columns=[say(f"gene {j}") for j in range(4)])
    scores = ["concordance", "ibs"]
    record = estimate(
        "cox", frame, y, cv=3, scoring=scores, name=say("cohort.csv"), random_state=0
    )
    return report.page(replace(record, settings=settings(say, "estimate")))


def correction(say: Say) -> str:
    """Probabilities with and without the correction."""
    tumour = say("tumour")
    record = Correction(
        DataSummary(say("colon.csv"), 200, 2000, {say("normal"): 80, tumour: 120}, ()),
        "binary",
        10,
        0.31,
        small_records.table(say("corrected"), tumour, 0.07, 0.95),
        small_records.table(say("uncorrected"), tumour, 0.01, 0.6),
        small_records.table(say("corrected, null features"), tumour, 0.08, 0.97),
        {"corrected": 300.0, "uncorrected": 8.0, "sparse": 9.0},
        0.9,
        (
            ScoreDifference("corrected", "uncorrected", -0.1, 0.02, -0.01, 0.002),
            ScoreDifference("sparse", "uncorrected", -0.12, 0.02, -0.01, 0.002),
            ScoreDifference("sparse", "corrected", -0.02, 0.02, -0.001, 0.002),
        ),
        Dependence(1.02, 0.3),
        "corrected",
        say("Believe the corrected probabilities."),
        settings(say, "select"),
    )
    return report.page(record)


def unstable(say: Say) -> str:
    """A list of which folds repeat little."""
    return selected(say, n=9, folds=(8, 0, 0, 5, 4, 2, 1, 3, 0), n_folds=8)


def selected(
    say: Say, n: int = 30, n_classes: int = 4, folds: tuple = (), n_folds: int = 10
) -> str:
    """One selector and its features."""
    folds = folds or tuple(10 - j // 4 for j in range(n))
    classes = {"ALL": 30, "AML": 10, "BL": 11, "EWS": 12}
    classes |= {f"class {i}": 5 for i in range(4, n_classes)}
    shares = (0.95, 0.75, 1.0, 0.82, *(i / n_classes for i in range(4, n_classes)))
    shown = {say(name): count for name, count in classes.items()}
    data = DataSummary(say("srbct.csv"), 63, 2308, shown, ())
    record = Selection(
        data=data,
        selector=say("DDP, one against all"),
        estimator=say("DAG of linear SVMs"),
        features=tuple(
            SelectedFeature(j, say(gene(j)), 9.5 / (j + 1), folds[j]) for j in range(n)
        ),
        accuracy=Interval(0.9, 0.8, 0.95),
        coverage=Coverage(0.93, 0.99, "10 folds", 0.95),
        n_test=63,
        n_folds=n_folds,
        other_features=tuple(
            SelectedFeature(100 + j, say(gene(100 + j)), 1.5, n_folds - 2 * j)
            for j in range(4)
        ),
        stability=Interval(0.62, 0.5, 0.74),
        classes=tuple(
            ClassResult(name, count, accuracy)
            for (name, count), accuracy in zip(shown.items(), shares, strict=True)
        ),
        sizes=tuple(range(1, n + 1)),
        size_accuracy=tuple(1 - 0.6 * 0.85**k for k in range(n)),
        size_intervals=tuple(
            Interval(v, v - 0.1, min(1, v + 0.08))
            for v in (1 - 0.6 * 0.85**k for k in range(n))
        ),
        paths={say("antiredundancy"): tuple(0.5 + 0.01 * k for k in range(n))},
        alphas=(0.1, 0.3, 0.5, 0.7, 1.0),
        alpha_accuracy=(0.7, 0.8, 0.85, 0.8, 0.75),
        alpha=0.5,
        fold_alphas=(0.5,) * n_folds,
        notes=(say("The exponent was chosen anew in every fold."),),
        settings=settings(say, "select"),
    )
    return report.page(record)


def discoveries(say: Say, n: int = 40, n_claimed: int = 4) -> str:
    """Claims about single features."""
    rng = np.random.default_rng(0)
    pvalue = rng.uniform(size=n)
    pvalue[:n_claimed] = 1e-4
    qvalue = np.where(np.arange(n) < n_claimed, 0.01, np.clip(5 * pvalue, 0.15, 1))
    effect = rng.normal(size=n)
    claimed = np.arange(n) < n_claimed
    record = Discoveries(
        data=DataSummary(
            say("genes.csv"),
            80,
            n,
            {say("normal"): 40, say("tumour"): 40},
            tuple(names(say, n)),
        ),
        selector=say("AnovaF"),
        claim="association",
        method="permutation",
        rate="fdr",
        level=0.1,
        frequency=rng.uniform(size=n),
        statistic=rng.exponential(size=n),
        pvalue=pvalue,
        qvalue=qvalue,
        effect=effect,
        effect_low=np.where(claimed, effect - 1, np.nan),
        effect_high=np.where(claimed, effect + 1, np.nan),
        effect_kind=say("difference of means, tumour minus normal"),
        paths=tuple(
            StabilityPath(j, (1, 3, 10), (0.1 * j, 0.5, 0.9)) for j in range(4)
        ),
        measured=MeasuredRate(
            0.1, 0.08, 0.05, 0.11, 4, 150, say("correlated numbers"), True, True
        ),
        tested=say("Tested for each feature: it is independent of the outcome."),
        not_said=say("A claim does not say that the feature is a cause."),
        notes=(say("Outcomes are exchanged between all samples."),),
        warnings=(say("The data look like binary features."),),
        settings=settings(say, "discover"),
    )
    return report.page(record)


def nothing_discovered(say: Say) -> str:
    """No feature may be claimed."""
    return discoveries(say, n_claimed=0)


@cache
def _sensitivity():
    rng = np.random.default_rng(0)
    y = np.resize(["no", "yes"], 60)
    X = rng.normal(size=(60, 10)) + 0.8 * (y == "yes")[:, None] * (np.arange(10) < 3)
    return sensitivity(
        ["anova", "fcbf"],
        X,
        y,
        n_features_to_select=3,
        estimator="nb",
        cv=5,
        n_sets=8,
        n_test=50,
        strengths=(0.5, 1, 2),
        random_state=0,
    )


def sensitive(say: Say) -> str:
    """Sources like the data."""
    base = _sensitivity()
    record = replace(
        base,
        names=(say("AnovaF"), say("FCBF")),
        data=_renamed(base.data, say),
        observed=replace(base.observed, estimators=(say("naive Bayes"),)),
        recommendation=say(base.recommendation),
        recipe=say(base.recipe),
        settings={**base.settings, **settings(say, "compare")},
    )
    return report.page(record)


@cache
def _choice():
    rng = np.random.default_rng(0)
    y = np.resize(["normal", "tumour"], 60)
    X = rng.normal(size=(60, 12)) + 0.8 * (y == "tumour")[:, None] * (np.arange(12) < 3)
    X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=60)
    return choose(
        X,
        y,
        selectors=["anova", "correlation"],
        sizes=[1, 2, 4],
        estimators=["nb", "1nn"],
        cv=4,
        random_state=0,
    )


def chosen(say: Say, *, partial: bool = False) -> str:
    """The best of many."""
    base = _choice()
    said = {
        name: say(name) for one in base.found for name in (one.selector, one.estimator)
    }
    record = replace(
        base,
        data=_renamed(base.data, say),
        found=tuple(
            replace(one, selector=said[one.selector], estimator=said[one.estimator])
            for one in base.found
        ),
        features=tuple(replace(one, name=say(one.name)) for one in base.features),
        stand_ins=tuple(
            replace(one, feature=say(one.feature), other=say(one.other))
            for one in base.stand_ins
        ),
        fold_winners=tuple(map(say, base.fold_winners)),
        notes=(say("A note."),),
        n_planned=99 if partial else base.n_planned,
        settings={**base.settings, **settings(say, "choose")},
    )
    return report.page(record)


def _shown(make: Callable[[Say], object]) -> Callable[[Say], str]:
    return lambda say: report.page(make(say))


#: By kind, and by what is special about the page; "bare" ones have no settings.
CATALOGUE: dict[tuple[str, str], Callable[[Say], str]] = {
    ("comparison", ""): comparison,
    ("comparison", "noise"): lambda say: comparison(say, records.random_labels),
    ("comparison", "truth"): lambda say: comparison(
        say, records.with_truth, estimators=("SVM", "C4.5", "naive Bayes")
    ),
    ("comparison", "wide"): comparison_of_many_features,
    ("many", ""): many,
    ("estimates", ""): estimates,
    ("estimates", "truth"): lambda say: estimates(say, estimates_records.with_truth),
    ("audit", ""): audit,
    ("audit", "honest"): honest_audit,
    ("estimates", "survival"): survival,
    ("discoveries", ""): discoveries,
    ("discoveries", "none"): nothing_discovered,
    ("correction", ""): correction,
    ("selection", ""): selected,
    ("selection", "unstable"): unstable,
    ("sensitivity", ""): sensitive,
    ("choice", ""): chosen,
    ("choice", "partial"): lambda say: chosen(say, partial=True),
    ("study", ""): study,
    ("studies", ""): studies,
    ("estimate", "bare"): _shown(small_records.estimate),
    ("calibration-table", "bare"): _shown(small_records.calibration),
    ("calibration", "bare"): _shown(small_records.null),
    ("test", "bare"): _shown(small_records.significance),
    ("tests", "bare"): _shown(small_records.many_tests),
    ("truthfulness", "bare"): _shown(small_records.truthfulness),
    ("bias", "bare"): _shown(small_records.bias),
    ("friedman", "bare"): _shown(small_records.ranks),
    ("friedmans", "bare"): _shown(small_records.many_ranks),
    ("nested-cv", "bare"): _shown(small_records.nested),
    ("watch", ""): watched,
    ("watch", "finished"): finished,
    ("watch", "young"): young,
}
