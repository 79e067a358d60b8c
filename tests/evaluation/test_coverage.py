"""What is shown beside an interval is how often such intervals cover the truth."""

import numpy as np
import pytest
from benchmarks.truth import coverages
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from veridical import estimate, select
from veridical._core.reading import read_table
from veridical._core.splits import split_table
from veridical.evaluation import (
    Bootstrap632,
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    PurgedKFold,
    RandomSubsampling,
    default_interval,
)
from veridical.evaluation.arguments import read_estimator
from veridical.evaluation.situations import (
    N_NEAR,
    SIMULATED,
    Situation,
    claim_level,
    count_selected,
    describe_designs,
    find_near,
    tail_weight,
    tails_of_student,
)
from veridical.evaluation.structured import count_folds
from veridical.evaluation.trust import (
    DEFAULT,
    MEASURED,
    OPTIMISM,
    coverage_of,
    coverage_range,
    coverage_table,
)
from veridical.selection import AnovaF

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 20)) + 0.5 * Y[:, None] * (np.arange(20) < 5)
LINEAR = ("svm", "centroid")
SITUATION = Situation(60, 20, 20, 2, 0.5, "nb", 0.75)


def test_the_table_covers_every_method_estimator_and_kind_of_data():
    rows = coverage_table()
    assert {row.method for row in rows} == set(MEASURED)
    for method in MEASURED:
        own = [row.situation for row in rows if row.method == method]
        assert {one.estimator for one in own} >= set(coverages.ESTIMATORS)
        assert max(one.n_samples for one in own) > 5 * min(o.n_samples for o in own)
        assert {one.n_classes for one in own} >= {2, 3}
    assert len({(row.method, row.situation) for row in rows}) >= 200
    assert all(0 <= row.covered <= row.n_simulations for row in rows)


@pytest.mark.parametrize(
    ("cv", "name"),
    [
        (10, "10 folds"),
        (CrossValidation(8, stratified=False), "10 folds"),
        (StratifiedKFold(10), "10 folds"),
        (KFold(5), "5 folds"),
        ("10x10", "10 x 10 folds"),
        ("5x2", "5 x 2 folds"),
        (CrossValidation(12, n_repeats=8), "10 x 10 folds"),
        (CrossValidation(10, n_repeats=3), "10 folds or 10 x 10 folds"),
        (7, "5 folds or 10 folds"),
        (2, "2 folds"),
        (3, "2 folds or 5 folds"),
        (4, "5 folds"),
        ("2x2", "2 folds or 5 x 2 folds"),
        (LeaveOut(1), "leave-one-out"),
        (Holdout(), "one holdout"),
        (RandomSubsampling(20), "20 random holdouts"),
        (ShuffleSplit(20, test_size=0.3, random_state=0), "20 random holdouts"),
    ],
    ids=str,
)
def test_splits_are_what_they_are_whatever_made_them(cv, name):
    found = estimate("nb", X, Y, cv=cv, random_state=0)
    shown = found.coverage[default_interval(found)]
    assert shown.conditions.startswith(name)
    assert 0.5 < shown.low < shown.high <= 1


def test_splits_between_measured_ones_have_the_coverage_of_their_own_interval():
    """By two folds the default is Wilson's; of three it is the corrected t interval."""
    folds = CrossValidation(3).split(Y, 0)
    for kind in ("corrected-t", "wilson"):
        near = [
            find_near(
                [r for r in coverage_table() if (r.method, r.kind) == (method, kind)],
                SITUATION,
            )
            for method in ("2", "5")
        ]
        shown = coverage_of(folds, SITUATION, lead="corrected-t")[kind]
        assert shown == coverage_range([row for rows in near for row in rows])


def test_between_ten_folds_and_leave_one_out_no_corrected_t_was_measured():
    found = estimate("nb", X, Y, cv=20, random_state=0)
    assert default_interval(found) == "corrected-t"
    assert set(found.coverage) == {"wilson"}
    assert found.coverage["wilson"].conditions.startswith("10 folds or leave-one-out")


def test_nothing_is_shown_that_was_not_measured():
    assert estimate("nb", X[:12], Y[:12], cv=CompleteCV(2)).coverage == {}
    for few in (
        "2x4",
        "5x5",
        "10x20",
        Holdout(1 / 10),
        RandomSubsampling(3),
        RandomSubsampling(100),
        ShuffleSplit(20, random_state=0),  # tests a tenth
        Bootstrap632(20).split(Y, 0),
        TimeSeriesSplit(15),
    ):
        assert estimate("nb", X, Y, cv=few, random_state=0).coverage == {}
    folds = CrossValidation(10).split(Y, 0)
    for far in (
        {"n_samples": 10**6},
        {"n_samples": 9000},
        {"n_samples": 9},
        {"n_features": 200_000},
        {"n_selected": 8000, "n_features": 8000},
        {"n_classes": 30, "minority": 1 / 30},
        {"accuracy": 0.02},
    ):
        assert coverage_of(folds, SITUATION._replace(**far)) == {}
    texts = [f"word{i % 2} other" for i in range(60)]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    assert estimate(model, texts, Y, cv=3, random_state=0).coverage == {}


def test_the_range_is_that_of_the_nearest_designs():
    folds = CrossValidation(10).split(Y, 0)
    shown = coverage_of(folds, SITUATION)["corrected-t"]
    rows = [
        row
        for row in coverage_table()
        if (row.method, row.kind) == ("10", "corrected-t")
    ]
    rows.sort(key=lambda row: SITUATION.distance(row.situation))
    near = [row for row in rows if SITUATION.distance(row.situation) <= 3.5][:N_NEAR]
    assert len(near) >= 5
    shares = [row.covered / row.n_simulations for row in near]
    assert shown.low <= min(shares) <= max(shares) <= shown.high
    assert describe_designs([row.situation for row in near]) in shown.conditions
    assert shown == coverage_range(find_near(rows, SITUATION))


@pytest.mark.parametrize(
    ("estimator", "like"),
    [
        ("nb", ("nb",)),
        ("svm", LINEAR),
        ("1nn", ("1nn",)),
        ("c45", ("c45",)),
        ("logistic", LINEAR),
        (read_estimator("nb"), ("nb",)),
        (read_estimator("svm"), LINEAR),
        (make_pipeline(AnovaF(5), read_estimator("c45")), ("c45",)),
        (make_pipeline(StandardScaler(), LogisticRegression()), LINEAR),
        (GaussianNB(), ("nb",)),
        (SVC(), ()),  # not linear, so nothing is known of it
        ("", tuple(SIMULATED)),
    ],
    ids=str,
)
def test_designs_with_estimators_of_the_same_kind_are_nearest(estimator, like):
    data = read_table(X, Y).summary("data")
    here = Situation.from_summary(data, 5, estimator, 0.75)
    for other in SIMULATED:
        there = Situation(60, 20, 5, 2, 0.5, other, 0.75)
        assert here.distance(there) == (0 if other in like else 2)


def test_features_that_a_pipeline_selects_are_counted():
    for step in (AnovaF(5), SelectKBest(k=5), AnovaF(0.25)):
        pipeline = make_pipeline(StandardScaler(), step, GaussianNB())
        assert count_selected(pipeline, 20) == 5
    for whole in (
        GaussianNB(),
        make_pipeline(StandardScaler(), SelectKBest(k="all"), GaussianNB()),
    ):
        assert count_selected(whole, 20) == 20


def test_the_printed_range_holds_the_coverage_of_other_designs():
    """Each design is left out in turn: 95 of 100 ranges hold what was measured."""
    held, asked = np.sum(list(coverages.check().values()), axis=0)
    assert asked >= 200
    assert held >= 0.95 * asked


def test_a_selection_shows_the_coverage_of_its_interval():
    found = select(
        "anova", X, Y, estimator="nb", n_features_to_select=5, random_state=0
    )
    assert found.interval == "corrected-t"
    assert found.coverage is not None
    assert found.coverage.conditions.startswith("10 folds")


def test_the_table_is_what_its_script_makes():
    known = coverages.measured_designs()
    plan = coverages.plan()
    assert {coverages.key_of(*one) for one in plan} <= set(known)
    for what, name in (("scores", "holdout"), ("optimism", "10")):
        cheap = [one for one in plan if one[:2] == (what, name)]
        cheap = [one for one in cheap if one[2].estimator == "nb"]
        one = min(cheap, key=lambda one: one[2].n_columns * one[2].n_samples)
        kinds = (DEFAULT, OPTIMISM)
        made = coverages.measure_design(*one)
        (row,) = [each for each in made if each["kind"] in kinds]
        again = known[coverages.key_of(*one)]
        found = (row["covered"], row["n_simulations"])
        if again.n_simulations == row["n_simulations"]:
            assert found == (again.covered, again.n_simulations)


# -- the p-value up to which a difference may be claimed -------------------------------

LEVELS = (0.01, 0.05, 0.1)


def test_a_test_that_holds_its_level_may_claim_up_to_it():
    for alpha in (0.001, 0.01, 0.03, 0.05, 0.1, 0.2):
        assert claim_level([LEVELS] * 3, LEVELS, alpha) == pytest.approx(alpha)
        assert claim_level([(0, 0, 0)], LEVELS, alpha) == pytest.approx(alpha)


def test_one_liberal_design_in_twenty_does_not_decide_but_three_do():
    honest, liberal = (0.01, 0.05, 0.1), (0.05, 0.2, 0.3)

    one = claim_level([honest] * 19 + [liberal], LEVELS, 0.05)
    three = claim_level([honest] * 17 + [liberal] * 3, LEVELS, 0.05)

    assert one == 0.05
    assert three == pytest.approx(0.01)  # where the liberal ones reject in 5 %


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("power", [0.7, 0.9, 1.0, 1.2])
def test_the_size_at_the_claim_level_is_nominal(alpha, power):
    rates = [[1.5 * alpha * (level / alpha) ** power for level in LEVELS]]
    level = claim_level(rates, LEVELS, alpha)
    at_least = LEVELS[0]  # smaller levels were not counted

    wanted = alpha * (1 / 1.5) ** (
        1 / power
    )  # where 1.5 alpha (t / alpha)^power = alpha
    assert level == pytest.approx(wanted if wanted >= at_least else 0.0)


@given(
    rates=arrays(float, (5, 3), elements=st.floats(0, 1)).map(lambda a: np.sort(a, 1)),
    alpha=st.floats(0.001, 0.3),
)
def test_a_claim_level_is_at_most_alpha_and_falls_as_rates_rise(rates, alpha):
    level = claim_level(rates, LEVELS, alpha)

    assert 0 <= level <= alpha
    assert claim_level((rates + 1) / 2, LEVELS, alpha) <= level * (1 + 1e-9)


def test_folds_with_samples_left_out_between_them_were_not_measured():
    purged = split_table(PurgedKFold(10, gap=2), read_table(X, Y), 0)
    assert count_folds(purged, len(Y)) is None
    assert not estimate("nb", X, Y, cv=PurgedKFold(10, gap=2), random_state=0).coverage
    # Folds as a list of training and test rows are folds all the same.
    splits = [*KFold(10, shuffle=True, random_state=0).split(X)]
    assert estimate("nb", X, Y, cv=splits, random_state=0).coverage


# -- tails ---------------------------------------------------------------------------


@pytest.mark.parametrize("df", [3, 4, 8, np.inf])
def test_tails_are_those_of_the_distribution(df):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 60)) if np.isinf(df) else rng.standard_t(df, (400, 60))
    found = tail_weight(read_table(X, np.arange(400) % 2))
    assert found == pytest.approx(tails_of_student(df), abs=0.05)


@pytest.mark.parametrize(("share", "times"), [(0.01, 30), (0.02, 10), (0.05, 6)])
def test_a_few_values_far_from_all_others_are_heavy_tails(share, times):
    """Quantiles do not show one value in a hundred, which decides what is learned."""
    rng, y = np.random.default_rng(4), np.arange(100) % 2
    X = rng.normal(size=(100, 100))
    assert tail_weight(read_table(X, y)) < 0.05
    X *= np.where(rng.random(X.shape) < share, times, 1)
    assert tail_weight(read_table(X, y)) == np.inf


def test_tails_depend_on_neither_unit_nor_order_nor_gaps():
    rng = np.random.default_rng(2)
    X, y = rng.standard_t(4, (80, 600)), np.arange(80) % 2
    found = tail_weight(read_table(X, y))
    moved = 3 + X[:, rng.permutation(600)] * rng.uniform(1, 9, 600)
    assert tail_weight(read_table(moved, y)) == pytest.approx(found, abs=1e-9)
    assert tail_weight(read_table(X[rng.permutation(80)], y)) == pytest.approx(found)
    assert tail_weight(read_table(sparse.csr_array(X), y)) == pytest.approx(found)
    X[rng.random(X.shape) < 0.1] = np.nan
    assert tail_weight(read_table(X, y)) == pytest.approx(found, abs=0.1)


def test_light_tails_count_as_normal_ones_and_constant_features_not_at_all():
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    assert tail_weight(read_table(rng.random((60, 5)), y)) == 0
    rare = (rng.random((60, 5)) < 0.1).astype(float)
    assert np.isnan(tail_weight(read_table(rare, y)))
    both = np.hstack([rare, rng.random((60, 1))])
    assert tail_weight(read_table(both, y)) == 0
