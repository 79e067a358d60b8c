"""Two selectors on one test set, and on halves of the samples beside the splits."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from scipy.stats import t as student
from sklearn import metrics
from sklearn.base import clone

from veridical import compare, report
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.comparison import delong
from veridical.comparison.paired import N_HALVES, score_halves
from veridical.datasets import make_linear_regression, make_survival
from veridical.evaluation import CrossValidation, Holdout, estimate
from veridical.evaluation.intervals import paired_shares, wilson
from veridical.learning import NaiveBayes, make_estimator
from veridical.selection import AnovaF, Variance


class Last:
    """Takes the last columns."""

    def rank_many(self, X, y, train_sets):
        return [np.arange(X.shape[1])[::-1] for _ in train_sets]


def problem(n=200, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n) > 0, "ill", "well")
    return X, y


ROWS = np.arange(200)
TRAIN, TEST = ROWS[:90], ROWS[90:]
OPTIONS = {"n_features_to_select": 3, "random_state": 0, "cv": [(TRAIN, TEST)]}


def fitted(selector, X, y, estimator="nb"):
    """Fit on the leading rows; return the columns and the model."""
    order = clone(selector).set_params(n_features_to_select=3).fit(X[TRAIN], y[TRAIN])
    columns = np.sort(order.order_[:3])
    return columns, make_estimator(estimator).fit(X[TRAIN][:, columns], y[TRAIN])


def test_accuracy_is_tested_by_mcnemar():
    X, y = problem()
    found = compare(
        [AnovaF(), Variance()], X, y, estimator="nb", test="mcnemar", **OPTIONS
    )
    right = []
    for selector in (AnovaF(), Variance()):
        columns, model = fitted(selector, X, y)
        right.append(model.predict(X[TEST][:, columns]) == y[TEST])
    a, b = right
    only = int((a & ~b).sum()), int((b & ~a).sum())
    test = found.verdicts["in"].test
    assert test.name == "exact McNemar"
    assert test.pvalue == pytest.approx(binomtest(only[0], sum(only), 0.5).pvalue)
    assert test.mean_difference == pytest.approx(a.mean() - b.mean())
    assert test.interval == paired_shares(*only, len(TEST))
    for mean, own in zip(found.means["in"], right, strict=True):
        assert mean.value == own.mean()
        assert (mean.low, mean.high) == pytest.approx(wilson(own.mean(), len(TEST)))


@pytest.mark.parametrize("test", ["mcnemar", "jackknife"])
def test_one_test_sample_says_nothing(test):
    X, y = problem()
    options = {**OPTIONS, "cv": [(TRAIN, TEST[:1])], "estimator": "nb", "test": test}
    found = compare([AnovaF(), Last()], X, y, **options).verdicts["in"].test
    assert found.winner == "draw"
    low, high = found.interval
    assert math.isnan(low) if test == "jackknife" else low < -0.3 < 0.3 < high


@pytest.mark.parametrize("estimator", ["nb", "svm"])
def test_areas_are_tested_by_delong(estimator):
    X, y = problem()
    found = compare(
        [AnovaF(), Variance()], X, y, estimator=estimator, test="delong",
        scoring="roc_auc", **OPTIONS,
    )  # fmt: skip
    sides, areas = [], []
    for selector in (AnovaF(), Variance()):
        columns, model = fitted(selector, X, y, estimator)
        if estimator == "nb":
            values = model.predict_proba(X[TEST][:, columns])[:, 1]
        else:
            values = model.decision_function(X[TEST][:, columns])
        sides.append(values)
        areas.append(metrics.roc_auc_score(y[TEST] == "well", values))
    expected = delong(y[TEST], *sides, positive="well")
    test = found.verdicts["in"].test
    assert test.name == "DeLong"
    assert test.pvalue == pytest.approx(expected.pvalue)
    assert test.interval == pytest.approx(expected.interval)
    assert [mean.value for mean in found.means["in"]] == pytest.approx(areas)
    one = estimate(
        make_estimator(estimator), X[:, fitted(AnovaF(), X, y)[0]], y,
        cv=OPTIONS["cv"], scoring="roc_auc",
    )  # fmt: skip
    mean = found.means["in"][0]
    assert (mean.low, mean.high) == pytest.approx(one.interval())


@pytest.mark.parametrize("structure", ["", "groups", "weights"])
@pytest.mark.parametrize("scoring", ["log_loss", "balanced_accuracy", "roc_auc"])
def test_any_score_is_tested_by_the_jackknife(scoring, structure):
    """Against a loop of scikit-learn."""
    X, y = problem()
    groups = ROWS // 5 if structure == "groups" else None
    weights = 1.0 + ROWS % 3 if structure == "weights" else None
    found = compare(
        [AnovaF(), Variance()], X, y, estimator="nb", test="jackknife", scoring=scoring,
        groups=groups, sample_weight=weights, **OPTIONS,
    )  # fmt: skip

    def score(rows, model, columns):
        proba = model.predict_proba(X[rows][:, columns])
        w = None if weights is None else weights[rows]
        if scoring == "log_loss":
            return metrics.log_loss(y[rows], proba, sample_weight=w)
        if scoring == "roc_auc":
            return metrics.roc_auc_score(
                y[rows] == "well", proba[:, 1], sample_weight=w
            )
        predicted = model.predict(X[rows][:, columns])
        return metrics.balanced_accuracy_score(y[rows], predicted, sample_weight=w)

    models = []
    for selector in (AnovaF(3), Variance(3)):
        own = selector.fit(
            X[TRAIN], y[TRAIN], None if weights is None else weights[TRAIN]
        )
        columns = np.sort(own.order_[:3])
        model = NaiveBayes()
        if weights is None:
            model.fit(X[TRAIN][:, columns], y[TRAIN])
        else:
            model.fit(X[TRAIN][:, columns], y[TRAIN], sample_weight=weights[TRAIN])
        models.append((model, columns))
    units = TEST if groups is None else groups[TEST]
    gaps = np.array(
        [
            np.subtract(*(score(TEST[units != unit], *one) for one in models))
            for unit in np.unique(units)
        ]
    )
    m = len(gaps)
    error = np.sqrt((m - 1) / m * ((gaps - gaps.mean()) ** 2).sum())
    gap = np.subtract(*(score(TEST, *one) for one in models))
    test = found.verdicts["in"].test
    assert test.mean_difference == pytest.approx(gap)
    assert test.pvalue == pytest.approx(2 * student.sf(abs(gap) / error, m - 1))
    assert test.greater_is_better == (scoring != "log_loss")
    assert found.verdicts["in"].winner == ("a" if test.pvalue < 0.05 else "draw")


def test_the_jackknife_of_areas_agrees_with_delong():
    X, y = problem()
    options = {**OPTIONS, "estimator": "nb", "scoring": "roc_auc"}
    one, other = (
        compare([AnovaF(), Last()], X, y, test=test, **options).verdicts["in"].test
        for test in ("delong", "jackknife")
    )
    assert one.statistic == pytest.approx(other.statistic, rel=0.03)


def test_the_page_is_about_one_test_set():
    X, y = problem()
    found = compare(
        [AnovaF(), Last()], X, y, estimator="nb", test="delong",
        scoring=["roc_auc", "brier_score"], **OPTIONS,
    )  # fmt: skip
    said = str(found.conclusion) + found.recommendation
    assert "fold" not in said
    assert not found.optimism
    assert not found.stability
    shown = report.page(found)
    for word in ("Mean area", "Standard deviation", "1 of 1"):
        assert word not in shown, word
    size = found.verdicts["in"].test.size
    assert size is not None
    assert "one test set" in size.design
    assert set(found.further_means) == {"brier_score"}
    assert found.to_frame().shape[0] == 4


@pytest.mark.parametrize(
    ("scoring", "label", "known"),
    [
        ("r2", "R²", True),
        ("mae", "mean absolute error", True),
        ("rmse", "root mean squared error", True),
        ("spearman", "", False),
        ("concordance", "concordance", True),
        ("uno", "", False),
    ],
)
def test_rates_of_numbers_and_survival_times_on_one_test_set(scoring, label, known):
    """They are those of test sets alone, whatever the unit of the target."""
    splits = [(np.arange(80), np.arange(80, 160))]
    if scoring in ("concordance", "uno"):
        X, y = make_survival(160, 8, 3, strength=1.5, censored=0.4, random_state=0)
        selectors, estimator = ["cox-score", "relieff"], "cox"
    else:
        X, y = make_linear_regression(160, 8, 3, r2=0.5, random_state=0)
        y, selectors, estimator = 1000 * y, ["correlation", "relieff"], "ridge"
    options = {"cv": splits, "scoring": scoring, "random_state": 0}
    coverage = estimate(estimator, X, y, **options).coverage
    assert bool(coverage) == known
    found = compare(
        selectors, X, y, n_features_to_select=3, test="jackknife", **options
    )
    size = found.verdicts["in"].test.size
    assert (size is not None) == known
    if known:
        assert size.design.startswith(f"{label}, one test set of 40 to ")
        assert size.design == coverage["jackknife"].conditions.split(";")[0]


def test_equal_sides_are_a_draw():
    X, y = problem()
    for test, scoring in (
        ("mcnemar", None),
        ("delong", "roc_auc"),
        ("jackknife", "f1"),
    ):
        found = compare(
            {"one": AnovaF(), "same": AnovaF()}, X, y, estimator="nb", test=test,
            scoring=scoring, **OPTIONS,
        )  # fmt: skip
        assert found.verdicts["in"].winner == "draw"
        assert found.verdicts["in"].pvalue == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"test": "corrected-t"}, "test='mcnemar', 'delong' or 'jackknife'"),
        ({"test": "delong"}, "is for scoring='roc_auc' of two classes"),
        ({"test": "mcnemar", "scoring": "roc_auc"}, "is for scoring='accuracy'"),
        ({"test": "mcnemar", "cv": 5}, "cv yields 5 splits"),
        ({"test": "mcnemar", "groups": ROWS // 2}, "there are groups or weights"),
        ({"test": "mcnemar", "sample_weight": ROWS + 1}, "groups or weights"),
        ({"test": "mcnemar", "estimator": ["nb", "svm"]}, "for one estimator"),
        ({"test": "mcnemar", "calibrated": True}, "no calibrated form"),
        ({"test": "conservative-z", "calibrated": True, "cv": 5}, "no calibrated"),
        ({"test": "conservative-z", "cv": [(TRAIN, TEST), (TEST, TRAIN)]}, "of folds"),
    ],
)
def test_what_does_not_fit_is_said_with_its_cure(more, words):
    X, y = problem()
    options = {**OPTIONS, "estimator": "nb", **more}
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        compare([AnovaF(), Variance()], X, y, **options)


def test_training_samples_are_not_a_test_set():
    X, y = problem()
    for cv in ("resubstitution", [(ROWS, TEST)]):
        options = {**OPTIONS, "cv": cv, "estimator": "nb", "test": "mcnemar"}
        with pytest.raises(InputError, match="are also training samples"):
            compare([AnovaF(), Variance()], X, y, **options)


@pytest.mark.parametrize(
    ("test", "scoring", "is_grouped", "is_measured"),
    [
        ("delong", "roc_auc", False, True),
        ("jackknife", "roc_auc", False, False),
        ("jackknife", "roc_auc", True, True),
        ("jackknife", "log_loss", False, True),
        ("jackknife", "accuracy", False, False),
        ("mcnemar", "accuracy", False, False),
    ],
)
def test_a_size_is_that_of_the_test_that_was_measured(
    test, scoring, is_grouped, is_measured
):
    X, y = problem(n=300)
    rows = np.arange(300)
    if is_grouped:
        noise = np.random.default_rng(2).normal(size=X.shape)
        X, y = X[rows // 5] + 0.5 * noise, y[rows // 5]
    found = compare(
        [AnovaF(), Variance()], X, y, estimator="nb", test=test, scoring=scoring,
        groups=rows // 5 if is_grouped else None,
        **{**OPTIONS, "cv": [(rows[:90], rows[90:])]},
    )  # fmt: skip
    assert (found.verdicts["in"].test.size is not None) == is_measured


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("median_absolute_error", "no test of one test set is valid for medians"),
        ("neg_max_error", "no test of one test set is valid for medians"),
        (metrics.make_scorer(metrics.max_error), "medians and extremes"),
        (lambda model, X, y: 1.0, "is computed from the fitted model"),
    ],
)
def test_scores_without_a_test_are_refused(scoring, words):
    X, _ = problem()
    with pytest.raises(InputError, match=words):
        compare(
            ["correlation", "hsic"], X, X[:, 0] + X[:, 1], estimator="ridge",
            scoring=scoring, test="jackknife", **OPTIONS,
        )  # fmt: skip


def test_three_selectors_need_folds():
    X, y = problem()
    with pytest.raises(InputError, match="on one test set two are compared"):
        compare(["anova", "relieff", "correlation"], X, y, test="mcnemar", **OPTIONS)


def test_other_functions_refuse_these_tests():
    from veridical.comparison import calibrate, truth

    with pytest.raises(InputError, match="compare\\(\\) alone"):
        calibrate("delong")
    with pytest.raises(InputError, match="compare\\(\\) alone"):
        truth(["anova", "relieff"], "linear", n_train=50, test="conservative-z")


# -- halves ----------------------------------------------------------------------------


def keep_halves(monkeypatch):
    """Return a list that will hold what `compare` computes on halves."""
    kept = []

    def score(*args):
        kept.append(score_halves(*args))
        return kept[-1]

    monkeypatch.setattr("veridical.comparison.comparing.score_halves", score)
    return kept


def error_by_halves(means):
    """Nadeau and Bengio's error: half of the mean square of what halves differ in."""
    gaps = [a - b for a, b in zip(*means.reshape(2, N_HALVES, 2), strict=True)]
    return math.sqrt(sum((one - other) ** 2 for one, other in gaps) / (2 * N_HALVES))


@pytest.mark.parametrize("grouped", [False, True])
def test_the_conservative_z_test_repeats_the_comparison_on_halves(grouped, monkeypatch):
    """Against separate comparisons of every half."""
    X, y = problem()
    groups = ROWS // 4 if grouped else None
    seen = []
    original = Table.rows

    def rows(self, wanted):
        if isinstance(wanted, np.ndarray) and self.n_samples == 200:
            seen.append(np.asarray(wanted))
        return original(self, wanted)

    monkeypatch.setattr(Table, "rows", rows)
    kept = keep_halves(monkeypatch)
    options = {"estimator": "nb", "n_features_to_select": 3, "random_state": 0}
    found = compare(
        [AnovaF(), Last()], X, y, cv=4, test="conservative-z", groups=groups, **options
    )
    halves = [part for part in seen if 80 <= len(part) <= 120][: 2 * N_HALVES]
    assert len(halves) == 2 * N_HALVES
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert np.array_equal(np.sort(np.concatenate([one, other])), ROWS)
        if grouped:
            assert not set(groups[one]) & set(groups[other])
    plain = compare([AnovaF(), Last()], X, y, cv=4, groups=groups, **options)
    assert plain.accuracy["in"].tolist() == found.accuracy["in"].tolist()
    test = found.verdicts["in"].test
    a, b = found.scores["in"]
    assert test.mean_difference == pytest.approx((a - b).mean())
    (means,) = kept
    error = error_by_halves(means.means["in"][:, 0])
    assert test.statistic == pytest.approx(test.mean_difference / error)
    assert test.pvalue == pytest.approx(2 * norm.sf(abs(test.statistic)))
    (pair,) = found.corrected["in"]
    assert pair.verdict.test.pvalue == plain.verdicts["in"].pvalue


def test_the_means_of_halves_are_those_of_a_loop():
    from veridical._core.parallel import serial
    from veridical._core.reading import read_table
    from veridical._core.scoring import ACCURACY
    from veridical._core.seeds import Purpose, seed_for
    from veridical._core.splits import split_table
    from veridical.comparison.design import Design, read_estimators, read_selectors

    X, y = problem(n=120)
    table = read_table(X, y)
    named = read_selectors([AnovaF(), Variance()], 0)
    design = Design(named, read_estimators("nb", 0), 3, ("in", "out"))
    method, columns = CrossValidation(3), np.arange(12)
    found = score_halves(design, table, method, columns, ACCURACY, 7, serial)
    assert found.means["in"].shape == (2, 1, N_HALVES, 2)
    ways = CrossValidation(2, n_repeats=N_HALVES)
    halves = split_table(ways, table, seed_for(7, Purpose.HALVES))
    number = 5
    rows = halves[number].test
    part = read_table(X[rows], y[rows])
    splits = split_table(method, part, seed_for(7, Purpose.HALVES, number + 1))
    for i, selector in enumerate((AnovaF(3), Variance(3))):
        hits = []
        for split in splits:
            train, test = rows[split.train], rows[split.test]
            columns = np.sort(clone(selector).fit(X[train], y[train]).order_[:3])
            model = NaiveBayes().fit(X[train][:, columns], y[train])
            hits.append((model.predict(X[test][:, columns]) == y[test]).mean())
        assert found.means["in"][i, 0, number // 2, number % 2] == pytest.approx(
            np.mean(hits)
        )


def test_holdout_is_one_test_set():
    X, y = problem()
    found = compare(
        ["anova", "relieff"], X, y, estimator="nb", cv=Holdout(), test="mcnemar",
        random_state=0, n_features_to_select=3,
    )  # fmt: skip
    assert found.score["in"].shape == (2, 1, 1, 1)


def test_conservative_z_is_of_the_mean_over_estimators(monkeypatch):
    X, y = problem()
    kept = keep_halves(monkeypatch)
    found = compare(
        [AnovaF(), Last()], X, y, estimator=["nb", "1nn"], cv=3, test="conservative-z",
        n_features_to_select=3, random_state=0,
    )  # fmt: skip
    means = kept[0].means["in"]
    (a, b), test = found.score["in"].mean(axis=(2, 3)), found.verdicts["in"].test
    expected = (a - b).mean() / error_by_halves(means.mean(axis=1))
    assert test.statistic == pytest.approx(expected)
    for i, name in enumerate(found.estimators):
        own = found.by_estimator[name]["in"][0].verdict.test
        expected = (a[i] - b[i]) / error_by_halves(means[:, i])
        assert own.statistic == pytest.approx(expected)
    # Its rates were measured, but are not looked up by design.
    shown = report.page(found)
    assert "false-positive rate of this test has not been measured" not in shown
    title = "How reliable is a p-value?"
    assert f"on the page &#34;{title}&#34;" in shown
    root = Path(__file__).parents[2]
    assert (root / "docs" / "which-test.md").read_text().startswith(f"# {title}")
