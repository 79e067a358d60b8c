"""The prioritization paper's study: its grid, its numbers, its findings, its page."""

from __future__ import annotations

import os
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from tests.oracles import dagsvm as oracle
from tests.report.markup import Page

from veridical.auditing import audit
from veridical.datasets import load
from veridical.experiments import (
    InputError,
    Plan,
    Serial,
    Store,
    run_study,
    stratified_split,
)
from veridical.learning import DAGSVM
from veridical.papers import find_study
from veridical.papers.differential_prioritization import figures, study
from veridical.papers.differential_prioritization.figures import (
    DataSetResult,
    PredictorSetResults,
    correlate_with_classes,
)
from veridical.papers.differential_prioritization.study import (
    STUDY,
    DifferentialSpec,
    TrainTestSplit,
)
from veridical.papers.expression import DATA, ExpressionArrays, get_arrays
from veridical.report import page
from veridical.selection import (
    DifferentialPrioritization,
    best_alpha,
    class_relevance,
    size_averaged_accuracy,
)

needs_data = pytest.mark.skipif(
    "VERIDICAL_DATA" not in os.environ, reason="no data folder"
)


def fake(name, n_genes=50):
    """Arrays with as many classes as the paper's, and blocks of near copies."""
    K = DATA[name].n_classes
    rng = np.random.default_rng(K)
    codes = np.arange(6 * K) % K
    markers = (codes[:, None] == np.arange(K)) * 1.5 + rng.normal(size=(6 * K, K))
    X = rng.normal(size=(6 * K, n_genes))
    X[:, : 2 * K] += 2 * np.repeat(markers, 2, axis=1)
    return ExpressionArrays(
        X, codes.astype(np.intp), tuple(f"c{k}" for k in range(K)), name * 9
    )


@pytest.fixture
def simulated(monkeypatch):
    """A machine where made-up arrays stand for the files."""
    for module in (study, figures):
        monkeypatch.setattr(module, "get_arrays", fake)
    files = [row.file for row in DATA.values()]
    monkeypatch.setattr("veridical.papers.paper_data.available", lambda: files)


def small(**changes):
    spec = {
        "data": ("nci60", "srbc"),
        "alphas": (0.2, 0.6, 1.0),
        "n_splits": 2,
        "max_size": 8,
    }
    return DifferentialSpec(**{**spec, **changes})


# -- the grid ------------------------------------------------------------------------


def test_it_is_found_by_its_name():
    assert find_study("differential-prioritization") is STUDY


def test_the_papers_grid_holds_the_laptops(simulated):
    keys = Plan(STUDY, STUDY.plan("paper", 0)).keys.known
    assert np.unique(keys).size == 7 * 2 * 10 * 10
    laptop = Plan(STUDY, STUDY.plan("laptop", 0)).keys.known
    assert laptop.size == 7 * 2 * 10 * 5
    assert np.isin(laptop, keys).all()
    assert Plan(STUDY, STUDY.plan("smoke", 0)).keys.known.size == 3 * 2 * 10 * 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": ("gmc",)}, "there is no data set 'gmc'; did you mean 'gcm'"),
        ({"data": ("gcm", "gcm")}, "named twice"),
        ({"alphas": (0.0,)}, "greater than 0"),
        ({"relevance": ("all",)}, "all-classes"),
        ({"max_size": 1}, "greater than or equal to 2"),
    ],
)
def test_a_wrong_specification_is_refused_in_words(changes, words):
    with pytest.raises(InputError, match=words):
        DifferentialSpec.checked({**small().model_dump(), **changes}, "spec.toml")


def test_without_files_everything_is_missing(monkeypatch, tmp_path):
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spec = STUDY.plan("paper", 0)
    assert spec.data == ()
    (sentence,) = STUDY.notices(spec)
    assert "mll.npz" in sentence
    get_arrays.cache_clear()
    with pytest.raises(InputError, match="not found: MLL"):
        get_arrays("mll")


def test_other_data_on_a_worker_are_refused(simulated):
    unit = next(STUDY.units(small()))
    changed = type(unit)({**unit.settings, "digest": "0" * 64}, unit.cells)
    with pytest.raises(InputError, match="not the file that the study was planned"):
        list(STUDY.run(changed))


# -- its numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("relevance", ["all-classes", "one-vs-all"])
def test_a_cell_is_what_its_words_say(simulated, relevance):
    trial = TrainTestSplit.draw("srbc", 0, 1)
    (found,) = trial.measure(relevance, [0.4], 6)
    order = (
        DifferentialPrioritization(6, alpha=0.4, relevance=relevance, n_searched=6)
        .fit(trial.X_train, trial.train)
        .order_[:6]
    )
    curve, right = [], []
    for size in range(2, 7):
        Z, T = (X[:, order[:size]] for X in (trial.X_train, trial.X_test))
        Z, T = (Z - Z.mean(0)) / Z.std(0), (T - Z.mean(0)) / Z.std(0)
        named, _ = oracle.predict(Z, trial.train, T)
        right.append(named == trial.test)
        curve.append(right[-1].mean())
    np.testing.assert_allclose(found["curve"], curve)
    assert found["accuracy"] == pytest.approx(size_averaged_accuracy(curve))
    for k in range(4):
        expected = np.mean([r[trial.test == k].mean() for r in right])
        assert found["class_accuracy"][k] == pytest.approx(expected)
    F = class_relevance(trial.X_train, trial.train)
    for k, n in enumerate(found["class_features"]):
        assert n == len(set(np.argsort(-F[k])[:6]) & set(order))
    R = np.abs(np.corrcoef(trial.X_train[:, order].T))
    pairs = R[np.triu_indices(6, 1)]
    assert found["mean_correlation"] == pytest.approx(pairs.mean())


def test_recalls_weighted_with_class_shares_are_the_accuracy(simulated):
    for name in ("gcm", "mll"):
        for values in TrainTestSplit.draw(name, 3, 0).measure(
            "all-classes", [0.1, 1.0], 12
        ):
            shares = np.array(values["class_tested"]) / sum(values["class_tested"])
            total = shares @ values["class_accuracy"]
            assert total == pytest.approx(values["accuracy"], abs=1e-12)


def test_both_kinds_of_relevance_see_the_same_split(simulated):
    a, b = TrainTestSplit.draw("lung", 0, 2), TrainTestSplit.draw("lung", 0, 2)
    np.testing.assert_array_equal(a.X_train, b.X_train)
    other = TrainTestSplit.draw("lung", 0, 3)
    assert not np.array_equal(a.X_train, other.X_train)


def test_cells_do_not_depend_on_which_are_asked_for(simulated):
    unit = next(STUDY.units(small()))
    everything = list(STUDY.run(unit))
    (alone,) = STUDY.run(unit.only([1]))
    assert alone == everything[1]


# -- its findings --------------------------------------------------------------------


def result(data="gcm", **changes):
    K = DATA[data].n_classes
    parts = {
        "alphas": np.array([0.1, 0.5, 1.0]),
        "A": np.array([[70.0, 80.0], [90.0, 90.0], [50.0, 60.0]]),
        "classA": np.full((3, 2, K), 50.0),
        "TC": np.tile(np.arange(K, dtype=float), (3, 2, 1)),
        "relevance": np.ones((3, 2)),
        "correlation": np.ones((3, 2)),
    }
    return DataSetResult(data, **{**parts, **changes})


def test_the_best_alpha_and_what_hangs_on_it():
    one = result()
    assert one.best_alpha == 0.5
    assert one.highest == 90.0
    tied = result(A=np.array([[90.0, 90.0], [80.0, 80.0], [90.0, 90.0]]))
    assert tied.best_alpha == 0.55
    assert tied.at_best == 1
    classA = np.full((3, 2, 14), 50.0)
    classA[1, :, 0] = 100.0
    classA[1, 0, 1] = np.nan
    classA[1, 1, 1] = 20.0
    spread = result(classA=classA)
    assert spread.spread == 80.0
    assert spread.class_accuracy[1] == 20.0


def test_served_classes_and_their_imbalance():
    most, median, least = result().class_feature_range()
    assert (most[0], median[0], least[0]) == (13.0, 6.5, 0.0)
    np.testing.assert_array_equal(result().imbalance, [13.0] * 3)
    assert result("mll").class_feature_range()[1][0] == 1.0


def test_trends_over_the_number_of_classes():
    results = [
        result(name, A=np.full((3, 4), 90.0 - 2 * DATA[name].n_classes))
        for name in DATA
    ]
    results = [
        DataSetResult(
            r.data, r.alphas, r.A, np.full((3, 4, r.n_classes), 1.0),
            np.ones((3, 4, r.n_classes)), np.ones((3, 4)), np.ones((3, 4)),
        )
        for r in results
    ]  # fmt: skip
    found = correlate_with_classes(results, lambda one: one.highest)
    assert found.value == pytest.approx(-1.0)
    assert found.high < 0
    assert correlate_with_classes(results, lambda one: 1.0).value == 0.0


def test_a_run_has_findings_and_a_page(simulated, tmp_path):
    store = tmp_path / "s.sqlite"
    spec = small(data=tuple(DATA), n_splits=5)
    done = run_study(STUDY, spec, store, executor=Serial())
    assert done.counts.ok == done.counts.planned == 7 * 2 * 3 * 5
    with Store(store) as opened:
        frame = opened.frame()
    sorted_cells = PredictorSetResults.from_cells(frame)
    assert (
        len(sorted_cells.with_relevance("all-classes"))
        == len(sorted_cells.pairs())
        == 7
    )
    one = sorted_cells.results["all-classes", "nci60"]
    mine = frame[(frame["data"] == "nci60") & (frame["relevance"] == "all-classes")]
    means = mine.groupby("alpha")["accuracy"].mean()
    assert one.best_alpha == best_alpha(means.index.to_numpy(), means.to_numpy())
    found = STUDY.findings(frame)
    rows = {check.statement: check for check in found.checks}
    correlated = rows[
        "A predictor set is more correlated at the largest than at the least alpha"
    ]
    assert correlated.outcome == "reproduced"
    assert rows["The best alpha falls with the number of classes"].outcome in (
        "reproduced", "not reproduced", "open",
    )  # fmt: skip
    assert sum(check.outcome != "open" for check in found.checks) >= 5
    text = Page(page(found)).text
    assert "figure 4" in text
    assert "one-vs-all" in text
    failed = mine.assign(status=np.where(mine["split"] == 0, "error", "ok"))
    assert any("failed" in note for note in STUDY.findings(failed).notes)


def test_few_splits_leave_everything_open(simulated, tmp_path):
    store = tmp_path / "s.sqlite"
    run_study(STUDY, small(), store, executor=Serial())
    with Store(store) as opened:
        found = STUDY.findings(opened.frame())
    assert {check.outcome for check in found.checks} == {"open"}
    nothing = STUDY.findings(pd.DataFrame({"status": [], "relevance": [], "data": []}))
    assert {check.outcome for check in nothing.checks} == {"open"}


# -- the specification's statements --------------------------------------------------


@needs_data
def test_published_numbers_of_genes():
    assert get_arrays("amlall").X.shape == (72, 3571)
    assert get_arrays("mll").X.shape == (72, 8681)
    assert get_arrays("srbc").X.shape == (83, 2308)


@needs_data
def test_the_audit_reports_the_known_pair_with_selection_inside_the_folds():
    """Rows 9 and 72 of SRBC are near copies; no honest fold can tell."""
    X, y = load("srbct")
    pipeline = make_pipeline(
        DifferentialPrioritization(10, n_searched=10), DAGSVM(standardize=True)
    )
    found = audit(pipeline, X, y, cv=10, n_permutations=19, random_state=0)
    copies = [finding for finding in found.findings if finding.code == "VD003"]
    assert len(copies) == 1
    assert {"9", "72"} <= set(re.findall(r"\d+", str(copies[0].evidence)))


def blocks(K, seed, n_per_class=20, copies=8):
    """Classes with a few blocks of near copies of a marker each, and noise."""
    rng = np.random.default_rng([K, seed])
    y = np.repeat(np.arange(K), n_per_class)
    columns = []
    for k in range(K):
        for strength in (2.0, 1.4):
            marker = strength * rng.uniform(0.7, 1.3) * (y == k)
            marker = marker + rng.normal(size=y.size)
            columns.append(marker[:, None] + 0.2 * rng.normal(size=(y.size, copies)))
    columns.append(rng.normal(size=(y.size, 200)))
    X = np.hstack(columns)
    return X[:, rng.permutation(X.shape[1])], y


@pytest.mark.slow
def test_many_classes_want_a_small_alpha():
    """E13: near copies of markers; the mean over ten replicates."""
    alphas = [round(0.1 * k, 1) for k in range(1, 11)]
    best = {}
    for K in (3, 10):
        found = []
        for seed in range(10):
            X, y = blocks(K, seed)
            rng = np.random.default_rng(seed)
            train, test = stratified_split(y, 1 / 3, rng)
            fitted = DifferentialPrioritization(50, n_searched=50).path(
                X[train], y[train], alphas
            )
            accuracy = [
                (
                    DAGSVM(standardize=True).predict_many(
                        X, y, [(train, test)], [one.order_[:50]], range(2, 51)
                    )[0]
                    == y[test]
                ).mean()
                for one in fitted
            ]
            found.append(best_alpha(alphas, accuracy))
        best[K] = np.mean(found)
    assert best[10] <= 0.5
    assert best[3] >= best[10]
