"""IN, OUT and the null are what plain scikit-learn code gives."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import audit as oracle

from veridical._core.reading import read_table
from veridical._core.scoring import ACCURACY
from veridical._core.seeds import Purpose, seed_for
from veridical._core.splits import Split, describe_splits
from veridical.auditing import audit, evidence, nulls
from veridical.auditing.procedures import FastF, fast_version, make_audited
from veridical.comparison import corrected_resampled_t, stability
from veridical.datasets import make_random_labels
from veridical.evaluation import (
    Bootstrap632,
    CrossValidation,
    Holdout,
    LeaveOut,
    estimate,
    wilson,
)
from veridical.evaluation.engine import rank
from veridical.evaluation.trust import default_interval
from veridical.selection import AnovaF, Correlation, ReliefF

FEW = {"n_permutations": 19, "random_state": 3}


@pytest.fixture(scope="module")
def weak():
    """Forty samples of two classes, two useful columns among sixty."""
    rng = np.random.default_rng(5)
    y = np.repeat(["no", "yes"], 20)
    X = rng.normal(size=(40, 60))
    X[y == "yes", :2] += 1.2
    return X, y


TEN_FOLDS = CrossValidation(10)


def splits_of(y, method=TEN_FOLDS):
    return method.split(y, FEW["random_state"])


def test_the_score_is_the_accuracy(weak):
    found = audit(make_pipeline(AnovaF(2), GaussianNB()), *weak, **FEW)
    assert set(found.score) == {"in", "out"}
    assert found.score == found.accuracy


@pytest.mark.parametrize(
    "learner",
    [
        GaussianNB(),
        KNeighborsClassifier(3),
        LogisticRegression(),
        DecisionTreeClassifier(random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_selected_features_against_plain_code(weak, learner):
    X, y = weak
    chosen = AnovaF(5).fit(X, y).get_support(indices=True)

    found = audit(learner, X, y, selected=chosen, **FEW)

    assert found.preselection.selector == "anova"
    assert found.preselection.overlap["anova"] == 5
    assert found.reported == "out"
    splits = splits_of(y)
    out = oracle.on_columns(learner, X[:, chosen], y, splits)
    assert found.accuracy["out"].value == pytest.approx(out)
    honest = oracle.inside(SelectKBest(f_classif, k=5), learner, X, y, splits)
    assert found.accuracy["in"].value == pytest.approx(honest)
    assert found.optimism.value == pytest.approx(out - honest)


@pytest.mark.parametrize("selector", [AnovaF(5), SelectKBest(f_classif, k=5)])
def test_pipeline_against_plain_code(weak, selector):
    X, y = weak
    learner = LogisticRegression()

    found = audit(make_pipeline(selector, learner), X, y, **FEW)

    splits = splits_of(y)
    assert found.reported == "in"
    assert found.estimator == f"{type(selector).__name__}, then LogisticRegression"
    assert repr(selector) in found.settings["estimator"]
    assert found.preselection is None
    assert found.accuracy["in"].value == pytest.approx(
        oracle.inside(selector, learner, X, y, splits)
    )
    assert found.accuracy["out"].value == pytest.approx(
        oracle.outside(selector, learner, X, y, splits)
    )
    sets = [
        SelectKBest(f_classif, k=5).fit(X[t], y[t]).get_support(indices=True)
        for t, _ in splits
    ]
    assert found.stability.value == pytest.approx(stability(sets, 60).value)
    assert found.n_selected == 5


def test_all_steps_before_the_classifier_are_done_outside(weak):
    X, y = weak
    learner = KNeighborsClassifier(3)
    before = make_pipeline(AnovaF(5), StandardScaler())

    found = audit(make_pipeline(*before, learner), X, y, **FEW)

    splits = splits_of(y)
    expected = oracle.outside(before, learner, X, y, splits)
    assert found.accuracy["out"].value == pytest.approx(expected)
    honest = oracle.inside(before, learner, X, y, splits)
    assert found.accuracy["in"].value == pytest.approx(honest)


def test_null_against_plain_code(weak):
    X, y = weak
    learner = GaussianNB()
    chosen = AnovaF(5).fit(X, y).get_support(indices=True)

    found = audit(learner, X, y, selected=chosen, **FEW)

    codes = (y == "yes").astype(int)
    permutations = nulls.LabelPermutations(
        CrossValidation(10), seed_for(3, Purpose.PERMUTATIONS), 19
    )
    for b in range(19):
        order, splits = permutations.draw(b, read_table(X, y))
        mixed = codes[order]
        assert sorted(mixed) == sorted(codes)
        select = SelectKBest(f_classif, k=5)
        for protocol, run in (("in", oracle.inside), ("out", oracle.outside)):
            expected = run(select, learner, X, mixed, splits)
            assert found.null[protocol].accuracies[b] == pytest.approx(expected)
    for protocol in ("in", "out"):
        null, value = found.null[protocol], found.accuracy[protocol].value
        as_good = np.count_nonzero(null.accuracies >= value - 1e-12)
        assert null.pvalue == (1 + as_good) / 20
        assert null.mean == pytest.approx(null.accuracies.mean())


def test_optimism_reaches_as_far_as_the_corrected_t(weak):
    X, y = weak
    chosen = AnovaF(5).fit(X, y).get_support(indices=True)

    found = audit(GaussianNB(), X, y, selected=chosen, **FEW)

    inside, outside = [], []
    for train, test in splits_of(y):
        best = SelectKBest(f_classif, k=5).fit(X[train], y[train]).get_support()
        for scores, columns in ((inside, best), (outside, chosen)):
            model = GaussianNB().fit(X[train][:, columns], y[train])
            scores.append(np.mean(model.predict(X[test][:, columns]) == y[test]))
    expected = corrected_resampled_t(outside, inside, n_train=36, n_test=4)
    reach = (expected.interval[1] - expected.interval[0]) / 2
    assert found.optimism.high - found.optimism.value == pytest.approx(reach)
    assert found.optimism.value - found.optimism.low == pytest.approx(reach)


def test_equal_folds_still_leave_room_for_doubt():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 10))
    X[:, :2] += 10 * y[:, None]  # both ways everything is right

    found = audit(GaussianNB(), X, y, selected=[0, 1], **FEW)

    assert found.optimism.value == 0
    assert found.optimism.high == pytest.approx(1 - 0.05 ** (1 / 40))


@pytest.mark.parametrize("cv", [10, "5x2", LeaveOut(1), Holdout()])
def test_the_interval_is_that_of_estimate_on_the_same_folds(weak, cv):
    pipeline = make_pipeline(AnovaF(2), GaussianNB())
    found = audit(pipeline, *weak, cv=cv, **FEW)
    alone = estimate(pipeline, *weak, cv=cv, random_state=FEW["random_state"])
    kind = default_interval(alone)
    assert found.interval == kind
    assert found.accuracy["in"] == (alone.value, *alone.interval(0.95))
    assert found.coverage == alone.coverage.get(kind)
    narrow = audit(pipeline, *weak, cv=cv, alpha=0.1, **FEW)
    assert narrow.accuracy["in"][1:] == alone.interval(0.9)


def test_equal_accuracies_of_some_samples_have_wilsons_interval(weak):
    X, y = weak
    rows = np.arange(40)
    splits = [(np.delete(rows, [i, i + 20]), [i, i + 20]) for i in range(3)]
    perfect = 1e-9 * X[:, :1] + 5 * (y == "yes")[:, None]
    found = audit(GaussianNB(), perfect, y, cv=splits, **FEW)
    assert found.accuracy["in"] == (1, *wilson(1.0, 6))
    assert found.interval == "wilson"


def test_without_a_valid_interval_none_is_shown(weak):
    X, y = weak
    every = np.arange(40)
    with pytest.warns(UserWarning, match="training"):
        found = audit(GaussianNB(), X, y, cv=[(every, every)], **FEW)
    assert np.isnan(found.accuracy["in"].low)
    assert found.interval == ""
    assert "% (no interval)" in found.conclusion.sentence
    assert "nan" not in found.to_html()


@pytest.mark.parametrize(
    ("cv", "method"),
    [
        (LeaveOut(1), LeaveOut(1)),
        (CrossValidation(5, n_repeats=2), CrossValidation(5, n_repeats=2)),
        (4, CrossValidation(4)),
        (Bootstrap632(10), Bootstrap632(10)),
    ],
)
def test_any_way_to_split(weak, cv, method):
    X, y = weak

    found = audit(make_pipeline(AnovaF(5), GaussianNB()), X, y, cv=cv, **FEW)

    splits = splits_of(y, method=method)
    expected = oracle.inside(AnovaF(5), GaussianNB(), X, y, splits)
    assert found.accuracy["in"].value == pytest.approx(expected)
    assert found.settings["cross-validation"] == describe_splits(method)


def test_same_answer_on_several_processes_and_again(weak):
    X, y = weak
    chosen = AnovaF(5).fit(X, y).get_support(indices=True)

    one, two, other = (
        audit("svm", X, y, selected=chosen, n_permutations=19, cv=4, **options)
        for options in (
            {"random_state": 3, "n_jobs": 1},
            {"random_state": 3, "n_jobs": 2},
            {"random_state": 4},
        )
    )

    for protocol in ("in", "out"):
        assert one.accuracy[protocol].value == two.accuracy[protocol].value
        same = one.null[protocol].accuracies == two.null[protocol].accuracies
        assert same.all()
    assert one.findings == two.findings
    assert (one.null["in"].accuracies != other.null["in"].accuracies).any()


def test_frames_names_and_labels_change_nothing(weak):
    X, y = weak
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(60)])
    chosen = np.sort(AnovaF(5).fit(X, y).get_support(indices=True))
    mask = np.isin(np.arange(60), chosen)
    renamed = np.where(y == "yes", "ZZZ", "aaa")

    plain = audit("svm", X, y, selected=chosen, **FEW)
    for found in (
        audit("svm", frame, y, selected=[f"gene {j}" for j in chosen], **FEW),
        audit("svm", X, renamed, selected=mask, **FEW),
    ):
        assert found.accuracy["in"] == plain.accuracy["in"]
        assert found.accuracy["out"].value == plain.accuracy["out"].value
        assert found.preselection.features == plain.preselection.features
        assert (found.null["in"].accuracies == plain.null["in"].accuracies).all()


def test_data_of_every_form(weak):
    X, y = weak
    names = [f"x{j}" for j in range(60)]
    pipeline = make_pipeline(SelectKBest(f_classif, k=5), LogisticRegression())
    plain = audit(pipeline, X, y, cv=4, **FEW)
    for table, labels in (
        (X.tolist(), y.tolist()),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
        (pd.DataFrame(X, columns=names), pd.Series(y, dtype="category")),
        (sparse.csr_array(X), y),
    ):
        found = audit(pipeline, table, labels, cv=4, **FEW)
        assert found.accuracy["in"].value == plain.accuracy["in"].value
        assert found.stability == plain.stability
        assert found.codes == plain.codes


def test_progress_is_told(weak):
    X, y = weak
    steps = []

    audit("nb", X, y, progress=lambda done, total: steps.append((done, total)), **FEW)

    assert steps[-1] == (19, 19)
    assert steps == sorted(steps)


def test_plain_learner_has_no_outside(weak):
    X, y = weak

    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    found = audit(scaled, X, y, cv=4, **FEW)
    alone = audit(LogisticRegression(), X, y, cv=4, **FEW)

    assert set(found.accuracy) == {"in", "out"}  # scaling is done before
    assert set(alone.accuracy) == {"in"}
    assert alone.optimism is None
    assert alone.stability is None


# ---- the fast way through many permutations ----------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_fast_f_selects_as_anova(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=rng.normal(scale=100, size=25), size=(24, 25))
    X[:, 3] = 7.0  # constant
    codes = rng.permutation(np.arange(24) % n_classes)
    sets = [np.arange(24), np.arange(2, 24), rng.integers(24, size=24)]

    chosen = FastF.from_values(X, 6).rank_table(read_table(X, codes), sets)

    for rows, columns in zip(sets, chosen, strict=True):
        if np.ptp(codes[rows]):
            (order,) = AnovaF().rank_many(X, codes, [rows])
            assert columns.tolist() == order[:6].tolist()


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler()])
def test_scaling_after_choosing_comes_to_the_same(weak, scaler):
    X, y = weak
    moved = X * 10.0 ** np.linspace(-3, 3, 60) + 5
    learner = LogisticRegression()
    pipeline = make_pipeline(scaler, SelectKBest(f_classif, k=5), learner)

    found = audit(pipeline, moved, y, cv=3, **FEW)

    permutations = nulls.LabelPermutations(
        CrossValidation(3), seed_for(3, Purpose.PERMUTATIONS), 19
    )
    for b in range(5):
        order, splits = permutations.draw(b, read_table(moved, y))
        mixed = np.asarray(y)[order]
        right = [
            clone(pipeline).fit(moved[t], mixed[t]).predict(moved[s]) == mixed[s]
            for t, s in splits
        ]
        expected = np.concatenate(right).mean()
        assert found.null["in"].accuracies[b] == pytest.approx(expected)


def test_features_too_close_to_tell_are_chosen_as_by_anova():
    """Rescaled copies have the same F ratio, which rounding would order by chance."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 20))
    X[:, 10:] = -3 * X[:, :10] + 7
    sets = [np.flatnonzero(rng.random(40) < 0.8) for _ in range(30)]
    order = rng.permutation(20)
    tied = 0
    for n_features in (1, 5, 7):
        codes = rng.integers(2, size=40)
        table = read_table(X, codes)
        quick = fast_version(AnovaF(n_features), table, n_features, order)
        exact = rank(AnovaF(n_features), table, sets, n_features, order)
        rounded = FastF.from_values(X, n_features).rank_table(table, sets)
        chosen = quick.rank_table(table, sets)
        for ours, theirs, other in zip(chosen, exact, rounded, strict=True):
            assert set(ours) == set(theirs.order)
            tied += set(other) != set(theirs.order)
    assert tied > 0  # else the test says nothing


def test_quick_way_is_taken_only_where_it_is_the_same():
    X, y = make_random_labels(20, 30, random_state=0)
    data = read_table(X, y)

    def hurries(selector, data=data):
        pipeline = make_pipeline(selector, GaussianNB())
        return isinstance(
            make_audited(pipeline, data).prepare_permutations().selector, FastF
        )

    assert hurries(AnovaF(5))
    assert hurries(Correlation(5))
    assert not hurries(ReliefF(5))
    three = read_table(X, np.arange(20) % 3)
    assert not hurries(Correlation(5), three)


def test_too_few_permutations_cannot_decide():
    X, y = load_iris(return_X_y=True)
    few = audit(GaussianNB(), X, y, n_permutations=20, alpha=0.01, random_state=0)
    assert few.null["in"].pvalue == pytest.approx(1 / 21)
    assert "no better than" not in few.conclusion.sentence
    assert "20 permutations cannot give a p-value of 0.01" in few.conclusion.sentence
    assert "n_permutations=99" in few.conclusion.sentence
    enough = audit(GaussianNB(), X, y, n_permutations=99, alpha=0.01, random_state=0)
    assert enough.conclusion.belief != "open"


@pytest.mark.parametrize("n_splits", [2, 10])
def test_equal_differences_of_all_folds_show_no_optimism(n_splits):
    """Whatever the folds have in common, their variance of zero is no certainty."""
    hits = np.full(n_splits, 0.5)
    splits = [Split(np.arange(4), 40, np.arange(4, 40)) for _ in range(n_splits)]
    data = SimpleNamespace(groups=None)
    inside = SimpleNamespace(score=0.5, scores=hits, hits=hits)
    outside = SimpleNamespace(score=0.75, scores=hits + 0.25, hits=hits + 0.25)
    value, low, high = evidence._optimism(inside, outside, splits, 0.05, ACCURACY, data)
    assert value == 0.25
    assert np.isnan([low, high]).all()
    same = evidence._optimism(inside, inside, splits, 0.05, ACCURACY, data)
    assert same.low < same.value == 0 < same.high


def test_two_folds_select_without_an_interval_of_stability():
    X, y = make_random_labels(30, 800, random_state=0)
    found = audit(make_pipeline(AnovaF(5), GaussianNB()), X, y, cv=2, **FEW)
    said = next(f for f in found.findings if f.code == "VD008").evidence
    assert "interval" not in said
    assert "share most" not in said
    assert "nan to" not in found.to_html()
