"""The best of many: its corrected score, its record, and the search behind it."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse, stats
from sklearn import metrics
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.oracles import choosing as oracle

from veridical import choose, select
from veridical._core.errors import InputError
from veridical._core.scoring import Outputs, make_score, read_scoring
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table
from veridical.evaluation import CrossValidation, corrected_t
from veridical.evaluation.arguments import make_selector
from veridical.evaluation.bias_correction import (
    CorrectedInterval,
    MeanScores,
    PartScores,
    bootstrap_choice,
    draw_weights,
    find_hopeless,
    first_best,
    inflate_for_shared_training,
)
from veridical.evaluation.choices import find_front
from veridical.evaluation.choosing import Search
from veridical.evaluation.pooling import row_scores
from veridical.learning import make_estimator
from veridical.selection import AnovaF, Correlation


def noise(n=40, p=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), np.resize(["a", "b"], n)


def signal(n=40, p=30, seed=0, strength=1.5):
    X, y = noise(n, p, seed)
    X[:, :3] += strength * (y == "b")[:, None]
    return X, y


SMALL = {
    "selectors": ["anova", "correlation"],
    "sizes": [1, 5],
    "estimators": ["nb", "1nn"],
    "cv": 4,
    "random_state": 0,
}


def means(hits):
    hits = np.asarray(hits, dtype=float)
    return MeanScores(hits, np.ones((1, len(hits)), dtype=bool))


# -- the bootstrap of the choice -------------------------------------------------------


def table_of(y):
    n = len(y)
    return Table.from_arrays(np.zeros((n, 1)), np.zeros(1, dtype=bool), y)


def some_predictions(rng, n, n_candidates, n_classes):
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    proba = rng.dirichlet(np.ones(n_classes), size=(n, n_candidates)).round(2)
    proba += 0.3 * (y[:, None, None] == np.arange(n_classes))
    proba /= proba.sum(axis=2, keepdims=True)
    return y, proba


SCORERS = {
    "accuracy": lambda y, p: metrics.accuracy_score(y, p.argmax(axis=1)),
    "balanced_accuracy": lambda y, p: np.mean(
        [(p.argmax(axis=1) == y)[y == k].mean() for k in np.unique(y)]
    ),
    "roc_auc": lambda y, p: metrics.roc_auc_score(y, p[:, 1]),
    "log_loss": lambda y, p: -metrics.log_loss(y, p, labels=range(p.shape[1])),
    "matthews_corrcoef": lambda y, p: metrics.matthews_corrcoef(y, p.argmax(axis=1)),
}


@pytest.mark.parametrize("name", SCORERS)
def test_the_bootstrap_of_a_choice_equals_the_loop(name):
    rng = np.random.default_rng(1)
    y, proba = some_predictions(rng, 24, 4, 2)
    estimators = [make_estimator("nb")] * 4
    outputs = [
        Outputs(proba[None, :, c].argmax(axis=2), proba[None, :, c]) for c in range(4)
    ]
    (score,) = read_scoring(name, table_of(y).target)
    rows = row_scores(score, outputs, estimators, np.arange(24), table_of(y))
    found = bootstrap_choice(rows, np.arange(24), 30, np.random.default_rng(5))
    counts = draw_weights(np.arange(24), 30, np.random.default_rng(5))
    winners, outside = oracle.bbc(SCORERS[name], y, proba, counts)
    assert found.winners.tolist() == winners.tolist()
    np.testing.assert_allclose(found.outside, outside, rtol=0, atol=1e-12)
    everything = [SCORERS[name](y, proba[:, c]) for c in range(4)]
    np.testing.assert_allclose(found.naive, everything, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["sensitivity", "recall", "specificity"])
def test_a_class_named_in_text_is_scored_as_one_named_by_make_score(name):
    y, proba = some_predictions(np.random.default_rng(1), 24, 4, 2)
    estimators, outputs = [], []
    for c in range(4):
        estimators.append(make_estimator("nb"))
        outputs.append(Outputs(proba[None, :, c].argmax(axis=2), proba[None, :, c]))
    table = table_of(y)
    (by_text,) = read_scoring(f"{name}:0", table.target)
    found, asked = (
        row_scores(score, outputs, estimators, np.arange(24), table)
        for score in (by_text, make_score(name, positive=0))
    )
    assert isinstance(found, MeanScores)
    np.testing.assert_array_equal(found.values, asked.values)
    np.testing.assert_array_equal(found.parts, asked.parts)


def test_one_candidate_has_its_mean_score_outside_the_draws():
    """F1."""
    hits = np.random.default_rng(0).integers(2, size=(50, 1))
    found = bootstrap_choice(means(hits), np.arange(50), 200, np.random.default_rng(1))
    counts = draw_weights(np.arange(50), 200, np.random.default_rng(1))
    by_hand = [hits[own == 0, 0].mean() for own in counts]
    assert found.estimate == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_identical_candidates_are_as_one():
    """F2."""
    hits = np.random.default_rng(0).integers(2, size=(50, 1))
    rngs = [np.random.default_rng(1) for _ in range(2)]
    one = bootstrap_choice(means(hits), np.arange(50), 100, rngs[0])
    many = bootstrap_choice(means(np.repeat(hits, 7, 1)), np.arange(50), 100, rngs[1])
    assert one.estimate == many.estimate
    assert many.best == 0
    assert many.pvalues().tolist() == [1.0] * 7


def test_on_noise_the_corrected_score_is_chance():
    """F3: 100 candidates without a signal, n = 60."""
    rng = np.random.default_rng(3)
    naive, corrected = [], []
    for _ in range(200):
        hits = rng.integers(2, size=(60, 100))
        found = bootstrap_choice(means(hits), np.arange(60), 100, rng)
        naive.append(found.naive[found.best])
        corrected.append(found.estimate)
    assert 0.08 <= np.mean(naive) - 0.5 <= 0.18
    assert abs(np.mean(corrected) - 0.5) <= 0.015


def test_the_mean_over_parts_leaves_out_those_without_a_score():
    hits = np.array([[1.0], [0.0], [1.0], [1.0]])
    columns = (np.array([0, 1]), np.array([2, 3]))
    scores = PartScores(tuple(means(hits[c]) for c in columns), columns)
    weights = np.array([[1.0, 1, 1, 1], [3, 1, 1, 0], [1, 3, 0, 0], [0, 0, 0, 0]])
    found = scores.score(weights, [0])[:, 0]
    np.testing.assert_allclose(found, [0.75, 0.875, 0.25, np.nan])


def test_groups_are_drawn_whole():
    units = np.repeat(np.arange(6), 4)
    counts = draw_weights(units, 50, np.random.default_rng(0))
    assert (counts.reshape(50, 6, 4) == counts[:, ::4, None]).all()
    assert (counts[:, ::4].sum(axis=1) == 6).all()


@given(st.integers(0, 2**31), st.integers(2, 6), st.integers(8, 30))
@settings(max_examples=15, deadline=None)
def test_the_order_of_samples_does_not_matter(seed, n_candidates, n):
    rng = np.random.default_rng(seed)
    hits = rng.integers(2, size=(n, n_candidates)).astype(float)
    order = rng.permutation(n)
    weights = draw_weights(np.arange(n), 5, rng)
    every = range(n_candidates)
    np.testing.assert_allclose(
        means(hits).score(weights, every),
        means(hits[order]).score(weights[:, order], every),
        atol=1e-12,
    )


def test_the_first_of_equal_candidates_wins():
    scores = np.array([[0.3, 0.5, 0.5], [0.1 + 0.2, 0.3, 0.0], [np.nan, 0.1, np.nan]])
    assert first_best(scores).tolist() == [1, 0, 1]


def test_a_candidate_that_is_always_worse_is_hopeless():
    rng = np.random.default_rng(0)
    hits = np.column_stack(
        [np.ones(40), rng.integers(2, size=40), np.zeros(40), np.ones(40)]
    )
    found = find_hopeless(means(hits), np.arange(40), 0.99, 200, rng)
    assert found.tolist() == [False, True, True, False]


@pytest.mark.parametrize(("p", "others"), [(0.75, 0.7), (0.7, 0.7), (0.7, 0.55)])
def test_dropping_keeps_the_truly_best(p, others):
    """In 90 % of searches or more, over all folds; hopeless ones are dropped."""
    rng, n, n_folds, n_searches, error = np.random.default_rng(2), 80, 8, 120, 0.1
    lost = n_dropped = 0
    for _ in range(n_searches):
        hits = rng.random((n, 15)) < np.r_[p, np.full(14, others)]
        alive = np.arange(15)
        for done in range(1, n_folds):
            m = n * done // n_folds
            hopeless = find_hopeless(
                means(hits[:m, alive]), np.arange(m), error / (n_folds - 1), 100, rng
            )
            alive = alive[~hopeless]
        lost += 0 not in alive
        n_dropped += 15 - len(alive)
    # Fails for one of a thousand seeds if the probability is 10 %.
    assert lost <= stats.binom.ppf(0.999, n_searches, error)
    assert n_dropped > 0


def test_the_true_best_is_among_those_not_distinguishable():
    """Multiple comparisons with the best keep it in 95 % of data sets."""
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(150):
        hits = rng.random((60, 20)) < np.r_[0.72, np.full(19, 0.7)]
        found = bootstrap_choice(means(hits), np.arange(60), 150, rng)
        kept.append(found.pvalues()[0] >= 0.05)
    assert np.mean(kept) >= 0.9


def test_intervals_stay_in_the_range_and_have_a_width():
    """F14."""
    draws = np.ones(50)
    for kind in ("sampling", "percentile"):
        one = CorrectedInterval(1.0, 0.0, 20, 0.0, 1.0, draws, 1.0, 1.4)
        low, high = one.interval(0.95, kind)
        assert 0.6 < low < high == pytest.approx(1.0)
        narrow = one.interval(0.5, kind)
        assert narrow[0] > low
    loss = CorrectedInterval(-0.2, 0.05, 20, -np.inf, 0.0, -0.2 * draws, -0.2, 1.4)
    low, high = loss.flipped().interval(0.95, "sampling")
    assert 0 < low < 0.2 < high
    with pytest.raises(InputError, match="confidence"):
        one.interval(1.5)
    with pytest.raises(InputError, match="kind='normal'"):
        one.interval(0.95, "normal")


def test_percentiles_reach_at_least_as_far_as_the_sampling_error():
    draws = np.linspace(0.3, 0.7, 401)
    one = CorrectedInterval(0.6, 0.1, 100, 0.0, 1.0, draws, 0.6, 1.0)
    least, most = one.interval(0.95, "sampling")
    low, high = np.quantile(draws, [0.025, 0.975])
    assert low < least < high < most
    assert one.interval(0.95) == (low, most)


def test_intervals_follow_the_distance_from_the_bounds():
    """With a small error all are the usual interval; far from it they are not."""
    draws = np.zeros(2)
    reach = stats.t.ppf(0.975, 999) * 1.4 * 1e-4
    for low, high in ((0.0, 1.0), (-np.inf, 1.0), (0.0, np.inf), (-np.inf, np.inf)):
        one = CorrectedInterval(0.6, 1e-4, 1000, low, high, draws, 0.6, 1.4)
        found = one.interval(0.95, "sampling")
        np.testing.assert_allclose(found, (0.6 - reach, 0.6 + reach), atol=1e-7)
    # R² of 0.5 with an error of 0.1: at 0 the error is twice as large.
    explained = CorrectedInterval(0.0, 0.1, 1000, -np.inf, 1.0, draws, 0.5, 1.0)
    low, high = explained.interval(0.95, "sampling")
    factor = np.exp(stats.t.ppf(0.975, 999) * 0.2)
    assert (low, high) == pytest.approx((1 - factor, 1 - 1 / factor))
    # The larger of two relative errors counts.
    assert explained.at_least(0.1, 0.0) is explained
    assert explained.at_least(0.3, 0.0).standard_error == 0.3
    few = CorrectedInterval(0.0, 0.1, 6, -np.inf, 1.0, draws, 0.5, 1.0)
    assert few.interval(0.95, "sampling")[0] < low


def test_the_mean_of_folds_has_the_corrected_t_interval():
    scores = np.array([0.7, 0.5, np.nan, 0.6, 0.9])
    mean = np.nanmean(scores)
    free = CorrectedInterval(0.1, 0.3, 50, -np.inf, np.inf, np.zeros(2), 0.1, 1.4)
    found = free.for_scores_of_folds(mean, scores, 0.25).interval(0.9, "sampling")
    known = scores[~np.isnan(scores)]
    assert found == pytest.approx(corrected_t(known, 0.25, 0.9))
    share = CorrectedInterval(0.1, 0.3, 50, 0.0, 1.0, np.zeros(2), 0.1, 1.4)
    low, high = share.for_scores_of_folds(mean, scores, 0.25).interval(0.95, "sampling")
    assert 0 < low < mean < high < 1
    same = share.for_scores_of_folds(0.5, np.full(5, 0.5), 0.25)  # no spread
    assert same.standard_error == share.standard_error
    assert same.value == 0.5


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_shared_training_samples_widen_as_nadeau_and_bengio_say(n_folds):
    """Their variance of K folds over that of K independent ones."""
    n_test, n_train = 100 / n_folds, 100 - 100 / n_folds
    ratio = (1 / n_folds + n_test / n_train) / (1 / n_folds)
    assert inflate_for_shared_training(100, n_train) ** 2 == pytest.approx(ratio)


# -- the search ------------------------------------------------------------------------


def test_candidates_have_the_scores_of_their_pipelines():
    X, y = signal()
    found = choose(X, y, **SMALL, correction="bbc")
    splits = CrossValidation(4).split(y, 0)
    frame = found.candidates
    assert len(frame) == 2 * 2 * 2 + 2 + 1
    row = frame[
        (frame.selector == "AnovaF")
        & (frame.estimator == "naive Bayes")
        & (frame.n_features == 5)
    ].iloc[0]
    hits = []
    for train, test in splits:
        model = make_pipeline(AnovaF(5), make_estimator("nb")).fit(X[train], y[train])
        hits.extend(model.predict(X[test]) == y[test])
    assert row.score == np.mean(hits)
    assert found.naive_score == frame.score.max()
    assert found.optimism == pytest.approx(found.naive_score - found.score)
    assert frame.wins.sum() == pytest.approx(1)
    assert found.interval()[0] < found.score < found.interval()[1]


@pytest.mark.parametrize("inner_cv", [None, 3])
def test_nested_equals_the_plain_double_loop(inner_cv):
    """Prediction by prediction, with shared folds and with folds of its own."""
    X, y = signal(strength=0.7)
    found = choose(
        X, y, **SMALL, correction="nested", inner_cv=inner_cv, baselines=False
    )
    outer = CrossValidation(4).split(y, 0)
    pipelines = [
        make_pipeline(selector(size), make_estimator(name))
        for size in (1, 5)
        for selector in (AnovaF, Correlation)
        for name in ("nb", "1nn")
    ]

    def inner_of(i):
        if inner_cv is None:
            tests = [one.test for j, one in enumerate(outer) if j != i]
            return [(np.setdiff1d(outer[i].train, test), test) for test in tests]
        return INNER[i]

    if inner_cv is not None:
        INNER = inner_splits(outer, y, inner_cv)
    winners, predictions = oracle.nested(
        pipelines, X, y, outer, inner_of, metrics.accuracy_score
    )
    assert found.predictions[0].tolist() == predictions.tolist()
    assert found.score == pytest.approx(np.mean(predictions == y))
    assert len(set(winners)) == len(set(found.fold_winners))
    assert found.by_bbc is not None


def inner_splits(outer, y, inner_cv):
    result = []
    for s, split in enumerate(outer):
        seed = int(stream(0, Purpose.INNER_FOLDS, s).generate_state(1)[0])
        rows = split.train
        own = CrossValidation(inner_cv).split(y[rows], seed)
        result.append([(rows[train], rows[test]) for train, test in own])
    return result


# -- the slow way, for every kind of target --------------------------------------------


def weighted_accuracy(y, predicted, weights):
    return np.average(predicted == y, weights=weights)


def problem_of(kind):
    """Features, target and what is given beside them; names, and the slow score."""
    rng = np.random.default_rng(7)
    n = 36
    X = rng.normal(size=(n, 10))
    given, names, score = {}, (("anova", "correlation"), ("nb", "logistic")), None
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    folds = np.arange(n) % 4
    if kind == "numbers":
        y = X[:, 0] + rng.normal(size=n)
        names, score = (("correlation", "relieff"), ("ridge", "knn")), metrics.r2_score
    elif kind == "survival":
        y = np.empty(n, dtype=[("event", bool), ("time", float)])
        y["time"] = rng.exponential(np.exp(-X[:, 0])).round(1) + 0.1
        y["event"] = rng.random(n) < 0.7
        names, score = (("cox-score", "concordance"), ("cox",)), oracle.concordance
    elif kind == "groups":
        groups = np.arange(n) // 3
        X += rng.normal(size=(n // 3, 10))[groups]
        given, folds = {"groups": groups}, groups % 4
    elif kind == "weights":
        given = {"sample_weight": rng.integers(1, 4, n).astype(float)}
        names = names[0], (GaussianNB(), LogisticRegression())
        score = weighted_accuracy
    splits = [
        (np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)
    ]
    return X, y, given, names, score or metrics.accuracy_score, splits


KINDS = ["classes", "numbers", "survival", "groups", "weights"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("correction", ["bbc", "nested"])
def test_a_choice_equals_the_slow_loops(kind, correction):
    """From the raw data to the corrected score, prediction by prediction."""
    X, y, given, (selectors, estimators), score, splits = problem_of(kind)
    found = choose(
        X,
        y,
        selectors=selectors,
        sizes=[1, 4],
        estimators=estimators,
        cv=splits,
        correction=correction,
        baselines=False,
        n_bootstrap=25,
        random_state=0,
        **given,
    )
    pipelines = [
        make_pipeline(
            make_selector(name, n_features_to_select=size),
            make_estimator(learner) if isinstance(learner, str) else learner,
        )
        for size in (1, 4)
        for name in selectors
        for learner in estimators
    ]
    weights = given.get("sample_weight")
    more = [] if weights is None else [weights]
    predicted = oracle.cross_validated(pipelines, X, y, splits, weights)
    naive = [score(y, one, *more) for one in predicted.T]
    assert found.naive_score == pytest.approx(max(naive), abs=1e-12)
    scores = np.sort(found.candidates.score)
    np.testing.assert_allclose(scores, np.sort(naive), rtol=0, atol=1e-9)
    if correction == "bbc":
        units = given.get("groups", np.arange(len(y)))
        rng = as_generator(stream(0, Purpose.CHOICE))
        counts = draw_weights(units, 25, rng)
        assert found.n_units == len(np.unique(units))
        winners, outside = oracle.bbc(score, y, predicted, counts, weights)
        assert len(set(winners.tolist())) > 1  # else nothing is chosen
        assert found.score == pytest.approx(outside.mean(), abs=1e-9)
        return

    def inner_of(i):
        return [
            (np.setdiff1d(splits[i][0], test), test)
            for j, (_, test) in enumerate(splits)
            if j != i
        ]

    winners, predictions = oracle.nested(
        pipelines, X, y, splits, inner_of, score, weights
    )
    assert len(set(winners)) == len(set(found.fold_winners))
    if y.dtype.kind == "f" or kind == "survival":
        np.testing.assert_allclose(found.predictions[0], predictions, atol=1e-7)
    else:
        assert found.predictions[0].tolist() == predictions.tolist()
    expected = score(y, predictions, *more)
    if kind == "survival":  # risks of different models have no common scale
        expected = np.mean([score(y[test], predictions[test]) for _, test in splits])
    assert found.score == pytest.approx(expected, abs=1e-9)


# -- repeats, groups and weights together, with scores of probabilities ----------------

PROBABLE = {
    "roc_auc": lambda y, p, w: metrics.roc_auc_score(y, p[:, 1], sample_weight=w),
    "log_loss": lambda y, p, w: -metrics.log_loss(y, p, sample_weight=w, labels=[0, 1]),
}


@pytest.mark.parametrize("scoring", PROBABLE)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("correction", ["bbc", "nested"])
def test_repeated_folds_equal_the_slow_loops(scoring, grouped, correction):
    """Two repeats of four folds with weights; the mean over repeats, or over folds."""
    rng = np.random.default_rng(4)
    n, units = 40, np.arange(40) // (2 if grouped else 1)
    X = rng.normal(size=(n, 12))
    signal_and_noise = X[:, :4].sum(axis=1) + 2.0 * rng.normal(size=n)
    y = (signal_and_noise > np.median(signal_and_noise)).astype(int)
    w = rng.integers(1, 4, n).astype(float)
    repeats, splits = [], []
    for _ in range(2):
        fold = rng.permutation(units.max() + 1)[units] % 4
        repeats.append(
            [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
        )
        splits += repeats[-1]
    found = choose(
        X, y, selectors=["anova"], sizes=[1, 2, 4, 8], estimators=[GaussianNB()],
        scoring=scoring, cv=splits, groups=units if grouped else None, sample_weight=w,
        correction=correction, baselines=False, n_bootstrap=20, random_state=0,
    )  # fmt: skip
    score, sign = PROBABLE[scoring], -1 if scoring == "log_loss" else 1
    pipelines = [make_pipeline(AnovaF(k), GaussianNB()) for k in (1, 2, 4, 8)]

    def probabilities(c, train, test):
        return oracle.fitted(pipelines[c], X, y, train, w).predict_proba(X[test])

    P = np.zeros((2, n, 4, 2))
    for r, folds in enumerate(repeats):
        for train, test in folds:
            for c in range(4):
                P[r, test, c] = probabilities(c, train, test)

    def mean_over_repeats(y, predicted, weights):
        return np.mean([score(y, one, weights) for one in np.moveaxis(predicted, 1, 0)])

    pooled = np.moveaxis(P, 0, 2)  # samples, candidates, repeats, classes
    naive = [mean_over_repeats(y, pooled[:, c], w) for c in range(4)]
    assert sign * found.naive_score == pytest.approx(max(naive), abs=1e-9)
    if correction == "bbc":
        codes = np.unique(units, return_inverse=True)[1]
        counts = draw_weights(codes, 20, as_generator(stream(0, Purpose.CHOICE)))
        winners, outside = oracle.bbc(mean_over_repeats, y, pooled, counts, w)
        assert len(set(winners.tolist())) > 1
        assert sign * found.score == pytest.approx(outside.mean(), abs=1e-9)
        return
    in_folds, whole = [], np.zeros((n, 2, 2))
    for r, folds in enumerate(repeats):
        for i, (train, test) in enumerate(folds):
            Q = np.zeros((n, 4, 2))
            for j, (_, inner) in enumerate(folds):
                for c in range(4 if j != i else 0):
                    Q[inner, c] = probabilities(c, np.setdiff1d(train, inner), inner)
            scores = [score(y[train], Q[train, c], w[train]) for c in range(4)]
            best = next(c for c, s in enumerate(scores) if s >= max(scores) - 1e-12)
            whole[test, r] = P[r, test, best]
            if len(set(y[test])) == 2:
                in_folds.append(score(y[test], whole[test, r], w[test]))
    expected = mean_over_repeats(y, whole, w)
    if scoring == "roc_auc":  # decision values of different models may not be pooled
        expected = np.mean(in_folds)
    assert sign * found.score == pytest.approx(expected, abs=1e-9)


# -- the answer ------------------------------------------------------------------------


def test_the_final_pipeline_is_plain_and_fitted_on_everything():
    X, y = signal()
    found = choose(pd.DataFrame(X).add_prefix("g"), y, **SMALL)
    assert type(found.estimator_) is Pipeline
    frame = pd.DataFrame(X).add_prefix("g")
    winner = found.winner
    expected = make_pipeline(
        {"AnovaF": AnovaF, "Correlation": Correlation}[winner.selector](
            winner.n_features
        ),
        make_estimator({"naive Bayes": "nb", "1-NN": "1nn"}[winner.estimator]),
    ).fit(X, y)
    assert (found.estimator_.predict(frame) == expected.predict(X)).all()
    chosen = [one.name for one in found.features]
    assert chosen == [f"g{j}" for j in expected[0].order_[: winner.n_features]]
    assert all(0 <= one.n_folds <= 4 for one in found.features)


def test_results_do_not_depend_on_the_number_of_processes():
    X, y = signal()
    one = choose(X, y, **SMALL, scoring="roc_auc")
    with parallel_config("threading"):  # processes take long to start
        two = choose(X, y, **SMALL, scoring="roc_auc", n_jobs=2)
    assert one.score == two.score
    pd.testing.assert_frame_equal(one.candidates, two.candidates)


def test_random_predictions_are_corrected_to_chance():
    X, y = noise(60)
    estimators = {
        f"coin {i}": DummyClassifier(strategy="uniform", random_state=i)
        for i in range(30)
    }
    found = choose(
        X,
        y,
        selectors="anova",
        sizes=[1],
        estimators=estimators,
        correction="bbc",
        random_state=0,
    )
    assert found.naive_score >= 0.58
    assert found.score < found.naive_score - 0.05
    assert found.conclusion.belief == "open"


def test_a_grid_joins_with_every_combination():
    X, y = signal()
    common = {**SMALL, "selectors": AnovaF(), "baselines": False}
    grid = {"C": [0.1, 1.0]}
    model = LogisticRegression()
    pair = choose(X, y, **{**common, "estimators": [(model, grid), "nb"]})
    search = choose(X, y, **{**common, "estimators": [GridSearchCV(model, grid), "nb"]})
    assert len(pair.candidates) == 2 * 3
    assert pair.score == search.score
    names = set(pair.candidates.estimator)
    assert "LogisticRegression (C=0.1)" in names
    with pytest.raises(InputError, match="no parameter 'gamma'"):
        choose(X, y, **{**common, "estimators": [(model, {"gamma": [1]})]})


def test_the_grid_of_a_name_has_the_parameters_of_its_estimator():
    X, y = signal()
    common = {**SMALL, "selectors": AnovaF(), "baselines": False}
    found = choose(X, y, **{**common, "estimators": [("svm", {"C": [1e-6, 1]})]})
    names = set(found.candidates.estimator)
    assert names == {"linear SVM (C=1e-06)", "linear SVM (C=1)"}
    assert found.candidates.groupby("estimator").score.max().nunique() == 2
    for grid, said in (
        ({"D": [1]}, r"no parameter 'D'; .*, 'C', "),
        ({"C": []}, "The grid of linear SVM: .* non-empty"),
        ({"C": 1.0}, "The grid of linear SVM: "),
    ):
        with pytest.raises(InputError, match=said):
            choose(X, y, **{**common, "estimators": [("svm", grid)]})
    found = choose(X, y, **{**common, "estimators": [("svm", {})]})
    assert set(found.candidates.estimator) == {"linear SVM"}


@pytest.mark.parametrize("estimator", ["svm", "nb", "1nn", "c45", LogisticRegression()])
def test_sparse_data(estimator):
    X, y = signal()
    X[np.abs(X) < 0.5] = 0.0
    options = {**SMALL, "estimators": [estimator]}
    dense = choose(X, y, **options)
    found = choose(sparse.csr_matrix(X), y, **options)
    assert found.candidates.score.tolist() == dense.candidates.score.tolist()
    predicted = found.estimator_.predict(sparse.csr_matrix(X))
    assert (predicted == dense.estimator_.predict(X)).all()
    assert (predicted == found.estimator_.predict(X)).all()


def test_an_estimator_that_refuses_all_columns_has_no_baseline():
    class Small(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            if X.shape[1] > 10:
                raise ValueError("at most 10 columns")
            return super().fit(X, y)

    X, y = signal()
    found = choose(X, y, **{**SMALL, "sizes": [5], "estimators": [Small()]})
    assert any("at most 10 columns" in note for note in found.notes)
    assert not found.is_partial
    assert set(found.candidates.selector) == {"AnovaF", "Correlation", "no features"}


def test_losses_and_other_scores():
    X, y = signal()
    found = choose(X, y, **SMALL, scoring=["log_loss", "accuracy"], correction="bbc")
    assert found.naive_score == found.candidates.score.min()
    assert found.naive_score < found.score
    assert found.optimism > 0
    low, high = found.interval()
    assert 0 <= low < found.score < high
    assert 0.5 < found.other_scores["accuracy"].value <= 1


def test_numbers_as_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 8))
    y = X[:, 0] + rng.normal(size=50)
    selector = SelectByCorrelation()
    found = choose(X, y, selectors=[selector], sizes=[1, 2], cv=4, random_state=0)
    assert found.scoring.name == "r2"
    assert 0 < found.score <= found.naive_score < 1
    assert "mean" in set(found.candidates.estimator)


class SelectByCorrelation(Correlation):
    """Ranks by correlation with numbers, in a loop."""

    def __new__(cls):
        from sklearn.feature_selection import SelectKBest, r_regression

        return SelectKBest(lambda X, y: np.abs(r_regression(X, y)))


def test_dropping_fits_less_and_keeps_the_winner():
    X, y = signal(60, strength=2.5)
    kept = choose(X, y, **{**SMALL, "cv": 6}, correction="bbc")
    found = choose(X, y, **{**SMALL, "cv": 6}, drop=0.95)
    dropped = found.candidates.dropped_after.notna()
    assert dropped.any()
    assert len(found.candidates) == len(kept.candidates)
    assert found.winner.label == kept.winner.label
    assert found.naive_score == kept.naive_score
    assert not found.candidates[dropped].wins.any()
    with pytest.raises(InputError, match="drop=2"):
        choose(X, y, **SMALL, drop=2)
    with pytest.raises(InputError, match="fold by fold"):
        choose(X, y, **SMALL, drop=0.99, correction="nested")


def test_a_stopped_search_answers_with_what_is_done():
    X, y = signal()
    stop = threading.Event()

    def progress(done, total):
        stop.set()

    from veridical._core.reading import read_table

    search = Search(**SMALL, progress=progress)
    found = search.run(read_table(X, y), stop)
    assert found.is_partial
    assert found.conclusion.belief == "care"
    assert set(found.candidates.selector) == {"AnovaF", "no selection", "no features"}
    assert "partial answer" in found.conclusion.sentence
    assert any("not evaluated" in note for note in found.notes)


def test_a_store_is_read_and_completed(tmp_path):
    X, y = signal()
    plain = choose(X, y, **SMALL, scoring="roc_auc")
    path = tmp_path / "search.sqlite"
    first = choose(
        X, y, **{**SMALL, "selectors": ["anova"]}, scoring="roc_auc", store=path
    )
    more = {**SMALL, "estimators": ["nb", "1nn", Counting()]}
    again = choose(X, y, **more, scoring="roc_auc", store=path)
    assert len(first.candidates) < len(plain.candidates) < len(again.candidates)
    before = Counting.n_fits
    assert before > 10
    last = choose(X, y, **more, scoring="roc_auc", store=path)
    assert Counting.n_fits - before <= 1  # the final fit, if it wins
    assert last.score == again.score
    pd.testing.assert_frame_equal(last.candidates, again.candidates)


def test_a_store_does_not_take_one_lambda_for_another(tmp_path):
    X, y = signal()
    found = []
    for change in (lambda X: X, lambda X: np.sin(1e3 * X)):
        model = make_pipeline(FunctionTransformer(change), GaussianNB())
        options = {**SMALL, "estimators": [model], "baselines": False}
        kept = choose(X, y, **options, store=tmp_path / "search.sqlite")
        assert kept.naive_score == choose(X, y, **options).naive_score
        found.append(kept.naive_score)
    assert found[0] > found[1]


class Counting(GaussianNB):
    """Counts the fits of all its objects."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.n_fits += 1
        return super().fit(X, y)


def test_the_front_and_the_knee():
    assert find_front(
        [1, 5, 5], np.array([0.7, 0.8, 0.7]), np.array([1, 0.5, 0.4])
    ) == [
        True,
        True,
        False,
    ]
    X, y = signal(60)
    found = choose(X, y, **{**SMALL, "sizes": [1, 2, 3, 5, 10, 20]})
    assert found.winner in found.front
    sizes = [one.n_features for one in found.front]
    assert sizes == sorted(sizes)
    assert found.knee.n_features <= 20
    assert found.smallest.n_features <= found.winner.n_features
    assert found.smallest in found.like_winner


def test_stand_ins_are_found_and_measured():
    X, y = signal(60, strength=2.0)
    rng = np.random.default_rng(1)
    X[:, 10:13] = X[:, :3] + 0.1 * rng.normal(size=(60, 3))
    options = {**SMALL, "selectors": ["anova"], "sizes": [3], "baselines": False}
    found = choose(X, y, **options)
    assert {one.index for one in found.features} <= {0, 1, 2, 10, 11, 12}
    assert all(abs(one.correlation) >= 0.9 for one in found.stand_ins)
    assert found.signature.n_replaced >= 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": [100]}, "the data has 30"),
        ({"sizes": "many"}, "neither 'auto' nor numbers"),
        ({"selectors": []}, "selectors is empty"),
        ({"estimators": []}, "estimators is empty"),
        ({"correction": "none"}, "must be 'auto', 'bbc' or 'nested'"),
        ({"cv": "subsampling5"}, "tested equally often"),
        ({"cv": "resubstitution"}, "say nothing about new samples"),
        ({"cv": [(range(30), range(20)), (range(30), range(20, 40))]}, "trained on"),
        ({"correction": "bbc", "inner_cv": 3}, "inner_cv is for"),
        ({"scoring": lambda model, X, y: 1.0}, "needs the fitted models"),
        ({"n_bootstrap": 1}, "n_bootstrap=1"),
        ({"selectors": [StandardScaler()]}, "does not select features"),
    ],
)
def test_what_is_not_possible_is_said(options, words):
    X, y = noise()
    with pytest.raises(InputError, match=words):
        choose(X, y, **{**SMALL, **options})


def test_repeated_folds_and_splitters():
    X, y = signal()
    found = choose(X, y, **{**SMALL, "cv": "2x4"})
    assert found.n_folds == 8
    assert found.predictions.shape == (2, 40)
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    other = choose(X, y, **{**SMALL, "cv": splitter})
    assert other.n_folds == 4
    alone = choose(X, y, **{**SMALL, "cv": "loo", "estimators": ["nb"]})
    assert alone.correction == "bbc"


# -- weights, batches and covariates ---------------------------------------------------


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "f1"])
@pytest.mark.parametrize("correction", ["bbc", "nested"])
def test_a_weight_counts_equal_samples(correction, scoring):
    """Weights and repeated samples give the same scores and the same winners."""
    X, y = signal(strength=0.8)
    y = (y == "b").astype(int)
    weights = np.resize([1, 3, 2, 1, 0], len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    splits = [(one.train, one.test) for one in CrossValidation(4).split(y, 1)]
    counted = [tuple(np.flatnonzero(np.isin(rows, part)) for part in s) for s in splits]
    how = {**SMALL, "estimators": ["nb", "logistic"], "n_bootstrap": 20}
    how |= {"correction": correction, "scoring": scoring}
    weighted = choose(X, y, **{**how, "cv": splits}, sample_weight=weights)
    repeated = choose(X[rows], y[rows], **{**how, "cv": counted})
    one, two = weighted.candidates, repeated.candidates
    np.testing.assert_allclose(np.sort(one.score), np.sort(two.score), rtol=1e-12)
    assert weighted.naive_score == pytest.approx(repeated.naive_score)
    assert weighted.winner.label == repeated.winner.label
    if correction == "nested":
        assert weighted.score == pytest.approx(repeated.score)
        assert weighted.fold_winners == repeated.fold_winners
    ends = ("smallest sample weight", "largest sample weight")
    assert [weighted.settings[one] for one in ends] == [0.0, 3.0]
    shared = weighted.estimator_.predict(X) == repeated.estimator_.predict(X)
    assert shared.all()


def test_batches_and_covariates_are_corrected_in_every_split():
    X, y = signal()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(X).add_prefix("g").assign(site=np.resize(list("uuvv"), len(y)))
    frame["age"] = rng.normal(size=len(y))
    frame.loc[frame.site == "v", "g4"] += 5
    given = {"batch": "site", "covariates": ["age"]}
    how = {**SMALL, "selectors": "anova", "sizes": [5], "estimators": "nb"}
    found = choose(frame, y, **how, **given)
    alone = select(
        "anova",
        frame,
        y,
        n_features_to_select=5,
        estimator="nb",
        cv=4,
        random_state=0,
        **given,
    )
    chosen = [one for one in found.found if one.selector == "AnovaF"]
    assert chosen[0].score.value == pytest.approx(alone.accuracy.value)
    assert found.data.n_features == 30
    assert {"batch", "covariates"} <= set(found.settings)
    assert any("corrected features" in note for note in found.notes)
    assert len(found.estimator_.predict(X)) == len(y)  # of corrected samples


def test_a_store_knows_weights_and_batches(tmp_path):
    X, y = signal()
    site = np.resize(list("uuvv"), len(y))
    how = {**SMALL, "correction": "bbc", "store": tmp_path / "search.sqlite"}
    rng = np.random.default_rng(0)
    for more in (
        {},
        {"sample_weight": rng.integers(1, 4, len(y))},
        {"batch": site},
        {"batch": site[::-1].copy()},
    ):
        kept = choose(X, y, **how, **more)
        fresh = choose(X, y, **{**how, "store": None}, **more)
        assert kept.candidates.score.tolist() == fresh.candidates.score.tolist()
        again = choose(X, y, **how, **more)
        assert again.candidates.score.tolist() == fresh.candidates.score.tolist()


def test_two_values_and_regressors_are_said():
    X, y = signal()
    codes = (y == "b").astype(int)
    found = choose(X, codes, **{**SMALL, "estimators": ["ridge"]})
    (said,) = [note for note in found.notes if "0 and 1" in note]
    assert "regressors" in said
    assert "'svm'" in said
    found = choose(X, codes, **SMALL)
    assert not any("regressors" in note for note in found.notes)


def test_the_fitted_pipeline_obeys_the_requests_of_its_estimator():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 6)) + 0.5 * y[:, None]
    weights = rng.integers(1, 4, 80).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True),
            LogisticRegression().set_fit_request(sample_weight=False),
        )
        found = choose(
            X, y, selectors=["anova"], sizes=[2], estimators={"asked": asked}, cv=5,
            sample_weight=weights, random_state=0, n_bootstrap=100,
        )  # fmt: skip
        fitted = found.estimator_
        selected = fitted[:-1].transform(X) if len(fitted) > 1 else X
        alone = clone(asked).fit(selected, y, sample_weight=weights)
    assert isinstance(fitted[-1], Pipeline)
    np.testing.assert_allclose(fitted[-1][-1].coef_, alone[-1].coef_, rtol=1e-9)
    np.testing.assert_allclose(fitted[-1][0].mean_, alone[0].mean_, rtol=1e-12)
