"""Every code is reported where it should be, and nowhere else."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from veridical._core.reading import read_table
from veridical._core.scoring import ACCURACY
from veridical.auditing import CODES, audit
from veridical.auditing.agreement import find_agreement
from veridical.auditing.auditing import CHECKS
from veridical.auditing.checks_leaks import has_signal
from veridical.auditing.preprocessing import find_traces
from veridical.auditing.records import LEVEL, Preselection
from veridical.datasets import load, make_random_labels
from veridical.evaluation import (
    Bootstrap632,
    Holdout,
    LeaveOut,
    Resubstitution,
    estimate,
)
from veridical.selection import SELECTORS, AnovaF, MDLDiscretizer

DOCS = Path(__file__).parents[2] / "docs" / "findings"
FEW = {"n_permutations": 19, "random_state": 0}

needs_data = pytest.mark.skipif(
    not os.environ.get("VERIDICAL_DATA"), reason="VERIDICAL_DATA names no folder"
)


def noise(n=40, p=300, seed=0):
    return make_random_labels(n, p, random_state=seed)


def signal(n=60, p=20, strength=2.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    X[:, 0] += strength * y
    return X, y


def finding(found, code):
    return next((f for f in found.findings if f.code == code), None)


# ---- the codes ---------------------------------------------------------------------


def test_codes_checks_and_pages_go_together():
    assert list(CHECKS) == list(CODES) == sorted(CODES)
    for code, known in CODES.items():
        page = (DOCS / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}: {known.title}\n"), code
        for part in ("What it means", "What is checked", "What to do"):
            assert f"\n## {part}\n" in page, (code, part)
        assert re.search(r"^\(finding-vd\d{3}\)=", page, re.MULTILINE) is None
    assert {page.stem for page in DOCS.glob("VD*.md")} == set(CODES)


def test_findings_are_sorted_and_can_be_muted():
    X, y = noise()
    chosen = AnovaF(10).fit(X, y).get_support(indices=True)

    found = audit(GaussianNB(), X, y, selected=chosen, **FEW)
    muted = audit(GaussianNB(), X, y, selected=chosen, ignore=("VD001",), **FEW)

    assert found.codes[0] == "VD001"
    assert found.worst == "error"
    assert not found.clean
    assert "VD001" not in muted.codes
    assert muted.muted == (found.findings[0],)
    assert muted.findings == found.findings[1:]
    frame = found.to_frame()
    assert frame["code"].tolist() == list(found.codes)
    for f in found.findings:
        assert f.title == CODES[f.code].title
        assert f.evidence.endswith(".")
        assert f.cure.endswith(".")
        assert all(np.isfinite(list(f.details.values())))
        assert str(f).startswith(f"{f.code} {f.severity}: ")
    assert repr(found).startswith("Audit(IN 0.")
    assert "VD001 error" in repr(found)


# ---- VD001 -------------------------------------------------------------------------


def test_001_leak_on_noise_is_an_error():
    X, y = noise(50, 1000)
    chosen = AnovaF(20).fit(X, y).get_support(indices=True)

    found = audit(GaussianNB(), X, y, selected=chosen, **FEW)

    leak = finding(found, "VD001")
    assert leak.severity == "error"
    assert "20 of the 20 features are the best 20 by AnovaF" in leak.evidence
    assert leak.details["optimism"] == pytest.approx(found.optimism.value)
    assert found.optimism.low > 0
    assert found.null["out"].mean > 0.75
    assert abs(found.null["in"].mean - 0.5) < 0.1


def test_001_one_split_has_no_interval():
    X, y = noise(60, 300)
    chosen = AnovaF(10).fit(X, y).get_support(indices=True)

    found = audit(GaussianNB(), X, y, selected=chosen, cv=Holdout(0.5), **FEW)

    assert np.isnan(found.optimism.low)
    assert "nan" not in finding(found, "VD001").evidence
    assert "points." in finding(found, "VD001").evidence


def test_001_leak_that_changes_nothing_is_a_warning():
    X, y = signal(strength=8.0)

    found = audit(GaussianNB(), X, y, selected=[0], selector="anova", **FEW)

    leak = finding(found, "VD001")
    assert leak.evidence.startswith("The feature is the best by AnovaF on all samples")
    assert leak.severity == "warning"
    assert "the leak is not shown to change it" in leak.evidence


def test_001_features_that_may_have_been_known_are_a_note():
    X, y = signal(strength=8.0)

    found = audit(GaussianNB(), X, y, selected=[0], **FEW)

    note = finding(found, "VD001")
    assert note.severity == "note"
    assert "The feature is associated with the labels more strongly" in note.evidence
    assert "these samples cannot show which it is" in note.evidence
    assert "If they were known before" in note.cure
    assert found.clean
    assert found.conclusion.belief == "care"
    assert "only if the features were known before" in found.conclusion[1]


@pytest.mark.parametrize("effect", [0.7, 1.2, 2.0])
def test_001_relevant_features_known_beforehand_are_no_error(effect):
    rng = np.random.default_rng(int(10 * effect))
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 500))
    X[:, :20] += rng.normal(size=(60, 1)) + effect * np.sqrt(2) * y[:, None]

    found = audit(GaussianNB(), X, y, selected=np.arange(20), cv=3, **FEW)

    leak = finding(found, "VD001")
    assert leak is None or leak.severity == "note"


@pytest.mark.parametrize(
    ("inside", "best", "shown"),
    [(0.75, 1.0, True), (0.5, 0.004, True), (0.59, 0.005, False), (0.3, 1.0, False)],
)
def test_001_a_signal_is_shown_by_the_folds_or_by_the_best_features(
    inside, best, shown
):
    # Of 25 values with standard deviation 0.05: five deviations away, then two.
    null = SimpleNamespace(
        accuracies=0.5 + 0.05 * stats.norm.ppf((np.arange(25) + 0.5) / 25)
    )
    chosen = Preselection((0,), "anova", False, {"anova": 1}, 0.0, signal_pvalue=best)
    evidence = SimpleNamespace(
        null={"in": null},
        preselection=chosen,
        scoring=ACCURACY,
        inside=SimpleNamespace(score=inside),
    )

    assert has_signal(evidence) == shown
    # A selector that chooses most features did not choose them alone.
    most = replace(chosen, features=tuple(range(10)), overlap={"anova": 9})
    evidence.preselection = most
    assert has_signal(evidence) == (inside > 0.55 or best <= 0.1)


@needs_data
@pytest.mark.parametrize("name", ["anova", "relieff", "mrmr", "information-gain"])
def test_001_correlated_features_selected_on_permuted_labels(name):
    X, y = load("colon")
    y = np.random.default_rng(1).permutation(y)
    chosen = SELECTORS[name](20).fit(X, y).get_support(indices=True)

    agreement = find_agreement(read_table(X, y), chosen, 0)

    assert agreement.overlap[agreement.best] == 20
    assert agreement.pvalue <= LEVEL
    blind = np.random.default_rng(0).choice(2000, 20, replace=False)
    assert find_agreement(read_table(X, y), blind, 0).overlap[agreement.best] < 16


def test_001_pipelines_and_random_subsets_are_not_flagged():
    for seed in range(2):
        X, y = noise(seed=seed)
        blind = np.random.default_rng(seed).choice(300, 10, replace=False)
        for found in (
            audit(make_pipeline(AnovaF(10), GaussianNB()), X, y, cv=5, **FEW),
            audit(make_pipeline(SelectKBest(k=10), GaussianNB()), X, y, cv=5, **FEW),
            audit(GaussianNB(), X, y, cv=5, **FEW),
            audit(GaussianNB(), X, y, cv=5, selected=blind, **FEW),
        ):
            assert finding(found, "VD001") is None
            assert found.clean


def test_001_table_of_selected_features_looks_selected():
    X, y = noise(50, 2000)
    Z = SelectKBest(f_classif, k=20).fit_transform(X, y)

    found = audit(GaussianNB(), Z, y, **FEW)

    leak = finding(found, "VD001")
    assert leak.severity == "warning"
    assert "as if they had been selected" in leak.evidence
    assert "selected=" in leak.cure


def test_001_fixed_features_in_a_pipeline_count_as_selected_beforehand():
    X, y = noise(40, 300)
    fitted = SelectKBest(f_classif, k=20).fit(X, y)
    columns = fitted.get_support(indices=True)
    learner = GaussianNB()
    listed = audit(learner, X, y, selected=columns, cv=4, **FEW)

    for first in (
        FrozenEstimator(fitted),
        ColumnTransformer([("take", "passthrough", columns)]),
        FunctionTransformer(np.take, kw_args={"indices": columns, "axis": 1}),
    ):
        found = audit(make_pipeline(first, learner), X, y, cv=4, **FEW)
        assert found.preselection == listed.preselection
        assert found.findings == listed.findings
        assert finding(found, "VD001").severity == "error"


def test_001_steps_that_learn_are_left_in_the_pipeline():
    X, y = noise(40, 30)
    flat = np.where(np.arange(30) == 0, 1.0, X)
    blind = ColumnTransformer([("take", "passthrough", [3, 7, 20])])
    constant = VarianceThreshold()  # picks the same columns from any rows
    for first in (StandardScaler(), SelectKBest(k=5), PCA(5), constant, blind):
        table = flat if first is constant else X
        found = audit(make_pipeline(first, GaussianNB()), table, y, cv=4, **FEW)
        assert found.preselection is None
        assert finding(found, "VD001") is None
    clear, y = signal(p=4, strength=8.0)
    for first in (SelectKBest(k=1), AnovaF(1)):
        found = audit(make_pipeline(first, GaussianNB()), clear, y, cv=4, **FEW)
        assert found.preselection is None
        assert finding(found, "VD001") is None


def test_001_unknown_selector_is_named_as_such():
    X, y = noise(40, 200)
    # Columns whose spread, not mean, differs between the classes.
    gap = np.abs(np.log(X[y == 0].std(axis=0) / X[y == 1].std(axis=0)))
    chosen = np.sort(np.argsort(-gap)[:10])

    found = audit(DecisionTreeClassifier(random_state=0), X, y, selected=chosen, **FEW)

    assert max(found.preselection.overlap.values()) < 8
    leak = finding(found, "VD001")
    assert leak is None or leak.severity == "note"


def test_001_selector_can_be_named():
    X, y = noise()
    chosen = AnovaF(10).fit(X, y).get_support(indices=True)

    by_name = audit(GaussianNB(), X, y, selected=chosen, selector="anova", **FEW)
    theirs = audit(
        GaussianNB(), X, y, selected=chosen, selector=SelectKBest(f_classif), **FEW
    )

    assert by_name.preselection.given
    assert by_name.preselection.overlap == {"anova": 10}
    assert theirs.preselection.overlap == {"SelectKBest": 10}
    assert theirs.accuracy["in"].value == by_name.accuracy["in"].value


# ---- VD002 -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (StandardScaler(), "standardised on all of them"),
        (MinMaxScaler(), "scaled by the minimum and maximum"),
        (PCA(8), "principal components"),
        (SimpleImputer(), "replaced by the mean of all samples"),
    ],
)
def test_002_traces_of_preprocessing(step, words):
    X, y = signal()
    raw = X * 7 + 3
    raw[::7, 3] = np.nan if isinstance(step, SimpleImputer) else raw[::7, 3]

    honest = audit(make_pipeline(SimpleImputer(), GaussianNB()), raw, y, **FEW)
    found = audit(GaussianNB(), step.fit_transform(raw), y, **FEW)

    assert finding(honest, "VD002") is None
    assert words in finding(found, "VD002").evidence


def test_002_means_of_rounded_values_are_told_from_chance():
    """Of integers, some repeated value is the mean of the others by chance."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        raw = np.round(rng.normal(100, 15, size=(16, 3000)))
        table = read_table(raw, np.arange(16) % 2)
        assert find_traces(table) == []
        gone = rng.random(raw.shape) < 0.05
        means = np.nanmean(np.where(gone, np.nan, raw), axis=0)
        table = read_table(np.where(gone, means, raw), np.arange(16) % 2)
        assert [trace.kind for trace in find_traces(table)] == ["imputed"]


@needs_data
@pytest.mark.parametrize("name", ["golub_amlall3", "colon", "nci60"])
def test_002_raw_arrays_are_not_imputed(name):
    X, _ = load(name)
    for n in (16, 24, 40):
        for seed in range(2):
            rows = np.random.default_rng([seed, n]).choice(len(X), n, replace=False)
            table = read_table(np.asarray(X)[rows], np.arange(n) % 2)
            assert "imputed" not in [trace.kind for trace in find_traces(table)]


def test_002_effect_of_scaling_is_measured():
    X, y = signal()
    Z = StandardScaler().fit_transform(X)
    learner = KNeighborsClassifier(3)

    found = audit(learner, Z, y, **FEW)
    again = audit(make_pipeline(StandardScaler(), learner), X, y, **FEW)

    mark = finding(found, "VD002")
    expected = again.accuracy["in"].value
    assert mark.details["accuracy_when_redone"] == pytest.approx(expected)


def test_002_zeros_and_ones_are_not_scaled():
    rng = np.random.default_rng(0)
    X = (rng.random((40, 6)) < 0.5).astype(float)
    found = audit(GaussianNB(), X, np.arange(40) % 2, **FEW)
    assert finding(found, "VD002") is None


# ---- VD003 -------------------------------------------------------------------------


def test_003_copies_across_folds():
    X, y = signal()
    y[1] = y[0]
    X[1] = X[0] + 1e-4
    X[7] = X[5]
    y[7], y[5] = 0, 1

    apart = LeaveOut(1)  # every copy is tested by a model that knows the other
    copies = finding(audit(GaussianNB(), X, y, cv=apart, **FEW), "VD003")

    assert copies.severity == "warning"
    assert "rows 5 and 7 (equal)" in copies.evidence
    assert "rows 0 and 1" in copies.evidence
    assert "1 of the pairs differ in their class" in copies.evidence
    assert copies.details["n_pairs"] == 2


def test_003_copies_in_one_fold_are_no_matter():
    X, y = signal(20)
    X[1] = X[0]
    folds = [(np.arange(10, 20), np.arange(10)), (np.arange(10), np.arange(10, 20))]

    assert finding(audit(GaussianNB(), X, y, cv=folds, **FEW), "VD003") is None
    assert finding(audit(GaussianNB(), X, y, **FEW), "VD003") is not None


def test_003_copies_to_be_expected_are_not_reported():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, size=(80, 4)).astype(str)).astype("category")
    assert finding(audit("nb", X, np.arange(80) % 2, **FEW), "VD003") is None


def test_003_iris_is_not_flagged_but_iris_with_copies_is():
    X, y = load_iris(return_X_y=True)
    twice = np.r_[np.arange(150), np.arange(0, 150, 8)]

    honest = audit(GaussianNB(), X, y, **FEW)
    copied = audit(GaussianNB(), X[twice], y[twice], **FEW)

    assert finding(honest, "VD003") is None
    assert honest.clean
    assert finding(copied, "VD003").severity == "warning"


# ---- VD004, VD010 ------------------------------------------------------------------


def test_004_small_folds():
    X, y = signal(30)

    quiet = audit(GaussianNB(), X, y, cv=5, test="corrected-t", **FEW)
    note = audit(GaussianNB(), X, y, **FEW)
    warned = audit(GaussianNB(), X, y, test="corrected-t", **FEW)

    assert finding(quiet, "VD004") is None
    assert finding(note, "VD004").severity == "note"
    assert finding(warned, "VD004").severity == "warning"
    assert "has 3 samples" in finding(note, "VD004").evidence


def test_010_uncorrected_test():
    X, y = signal()

    found = audit(GaussianNB(), X, y, test="paired-t", **FEW)

    uncorrected = finding(found, "VD010")
    assert uncorrected.severity == "warning"
    # Ten folds: two training sets share 8 of the 9 folds they hold each.
    assert uncorrected.details["shared"] == pytest.approx(8 / 9)
    assert uncorrected.details["factor"] == pytest.approx(np.sqrt(1 + 10 / 9))
    assert uncorrected.details["measured_size"] > 0.05
    assert "Where nothing differs it rejects in" in uncorrected.evidence
    for test in (None, "corrected-t"):
        assert finding(audit(GaussianNB(), X, y, test=test, **FEW), "VD010") is None
    halves = KFold(2)
    found = audit(GaussianNB(), X, y, test="paired-t", cv=halves, **FEW)
    assert finding(found, "VD010") is None  # two halves share nothing


# ---- VD005, VD006 ------------------------------------------------------------------


def test_005_majority_under_leave_one_out():
    X, y = signal(20)
    majority = DummyClassifier(strategy="most_frequent")

    found = audit(majority, X, y, cv=LeaveOut(1), **FEW)

    wrong = finding(found, "VD005")
    assert wrong.severity == "error"
    assert found.accuracy["in"].value == 0
    assert wrong.details["follows"] == 1
    useful = audit(GaussianNB(), *signal(20, strength=6.0), cv=LeaveOut(1), **FEW)
    assert finding(useful, "VD005") is None
    folds = audit(majority, X, y, **FEW)
    assert finding(folds, "VD005") is None


def test_006_memoriser_under_632():
    X, y = noise(30, 10)

    found = audit(KNeighborsClassifier(1), X, y, cv=Bootstrap632(10), **FEW)

    memory = finding(found, "VD006")
    expected = estimate(
        KNeighborsClassifier(1), X, y, cv=Bootstrap632(10), random_state=0
    )
    assert memory.severity == "error"
    assert memory.details["estimate"] == pytest.approx(expected.value)
    plus = audit(KNeighborsClassifier(1), X, y, cv=Bootstrap632(10, plus=True), **FEW)
    assert finding(plus, "VD006") is None
    other = audit(GaussianNB(), X, y, cv=Bootstrap632(10), **FEW)
    assert finding(other, "VD006") is None


# ---- VD007 -------------------------------------------------------------------------


def test_007_best_of_many_settings():
    X, y = noise(40, 5, seed=2)
    grid = {"max_depth": [1, 2], "random_state": [0, 1, 2]}
    search = GridSearchCV(DecisionTreeClassifier(max_features=1), grid, cv=2)

    found = audit(search, X, y, cv=2, **FEW)

    tuned = finding(found, "VD007")
    best = clone(search).fit(X, y).best_score_
    assert tuned.details["best_score"] == pytest.approx(best)
    assert tuned.details["nested"] == found.accuracy["in"].value < best
    assert tuned.details["n_settings"] == 6
    assert "The best of 6 settings" in tuned.evidence
    beyond = best > found.accuracy["in"].high
    assert tuned.severity == ("error" if beyond else "note")


def test_007_an_honest_search_is_no_alarm():
    X, y = signal(strength=2.0)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=2)

    found = audit(search, X, y, cv=4, **FEW)

    assert found.clean
    tuned = finding(found, "VD007")
    assert tuned is None or tuned.severity == "note"


# ---- VD008, VD009 ------------------------------------------------------------------


def test_008_selection_without_a_signal_is_unstable():
    X, y = noise(30, 800)
    unstable = audit(make_pipeline(AnovaF(5), GaussianNB()), X, y, cv=3, **FEW)
    steady = audit(make_pipeline(AnovaF(1), GaussianNB()), *signal(strength=6.0), **FEW)

    note = finding(unstable, "VD008")
    assert note.severity == "note"
    assert unstable.clean
    assert note.details["stability"] == unstable.stability.value < 0.4
    assert finding(steady, "VD008") is None
    assert steady.stability.value == 1


def test_009_imbalance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["rare"] * 9 + ["usual"] * 51)

    blind = audit(GaussianNB(), X, y, cv=5, **FEW)
    X[:9] += 20
    clear = audit(GaussianNB(), X, y, cv=5, **FEW)
    even = audit(GaussianNB(), *signal(), **FEW)

    assert finding(blind, "VD009").severity == "warning"
    assert finding(clear, "VD009").severity == "note"
    assert finding(clear, "VD009").details["balanced_accuracy"] == 1
    assert finding(even, "VD009") is None
    assert "of class 'rare'" in finding(blind, "VD009").evidence


# ---- VD011, VD012 ------------------------------------------------------------------


def test_011_tested_on_training_samples():
    X, y = signal()

    found = audit(GaussianNB(), X, y, cv=Resubstitution(), **FEW)
    rows = np.arange(60)
    partly = [(rows[:40], rows[30:]), (rows[30:], rows[:30])]
    some = audit(GaussianNB(), X, y, cv=partly, **FEW)

    assert finding(found, "VD011").details["n_predictions"] == 60
    assert finding(some, "VD011").details == {"n_predictions": 10, "n_tested": 60}
    assert finding(audit(GaussianNB(), X, y, **FEW), "VD011") is None


def test_012_feature_that_determines_the_class():
    X, y = signal()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    numbers = frame.assign(outcome=y * 5.0 + np.linspace(0, 1, 60))
    kinds = frame.assign(stage=pd.Categorical(np.where(y, "late", "early")))

    codes = frame.assign(outcome=np.where(y, 7.5, 2.0))

    for table, name, severity in (
        (numbers, "outcome", "warning"),  # without it the accuracy falls
        (codes, "outcome", "warning"),
        (kinds, "stage", "warning"),
    ):
        told = finding(audit("nb", table, y, **FEW), "VD012")
        assert told.severity == severity
        assert name in told.evidence
        assert told.details["first"] == 20
    assert finding(audit("nb", frame, y, **FEW), "VD012") is None
    iris = audit(GaussianNB(), *load_iris(return_X_y=True), **FEW)
    assert finding(iris, "VD012") is None


def test_012_petals_separate_two_species_of_iris():
    X, y = load_iris(return_X_y=True)
    found = audit(GaussianNB(), X[y < 2], y[y < 2], **FEW)
    assert finding(found, "VD012").severity == "note"
    assert found.clean


def test_012_few_samples_give_no_finding():
    X, y = noise(8, 500)
    found = audit(GaussianNB(), X, y, cv=4, **FEW)
    assert finding(found, "VD012") is None


# ---- whatever the data -------------------------------------------------------------


def test_mixed_data_with_missing_values():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.array(["a", "b", "c"] * 20))
    frame = pd.DataFrame(rng.normal(size=(60, 12)))
    frame.columns = [f"n{j}" for j in range(12)]
    frame.iloc[::5, 2] = np.nan
    frame["kind"] = pd.Categorical(rng.choice(list("uvw"), 60))

    found = audit("nb", frame, y, selected=["n0", "n3", "kind"], cv=4, **FEW)
    alone = audit("svm", frame, y, cv=4, **FEW)

    assert found.preselection.selector in ("information-gain", "relieff", "fcbf")
    assert set(found.accuracy) == {"in", "out"}
    assert 0 <= alone.accuracy["in"].low <= alone.accuracy["in"].high <= 1


def test_supervised_step_of_a_pipeline_is_done_outside():
    X, y = noise(40, 50)
    pipeline = make_pipeline(MDLDiscretizer(), AnovaF(5), LogisticRegression())
    found = audit(pipeline, X, y, cv=4, **FEW)
    assert set(found.accuracy) == {"in", "out"}
