"""What discover claims: at which rates, on which data, with which warnings."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from veridical import discover
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.discovery import Discoveries
from veridical.discovery.likeness import look_at, rate_table
from veridical.discovery.records import MeasuredRate
from veridical.discovery.stable import decoy_qvalues
from veridical.report.plain import to_json
from veridical.report.view import Cloud, Figure, view


def signal(n=80, p=60, k=5, effect=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.resize(["no", "yes"], n)
    X = rng.normal(size=(n, p))
    X[:, :k] += effect * (y == "yes")[:, None]
    return X, y


def linear(n=200, p=60, k=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    made = X[:, :k].sum(axis=1) + 0.3 * rng.normal(size=n)
    return X, made


CASES = {
    "fdr": {"fdr": 0.1},
    "by": {"fdr": 0.1, "correction": "by"},
    "fwer": {"fwer": 0.05},
    "pfer": {"pfer": 0.5},
    "relieff": {"selector": "relieff", "fdr": 0.2},
    "gain": {"selector": "information-gain", "fdr": 0.1},
    "stable": {"claim": "stable", "pfer": 1},
    "concave": {"claim": "stable", "pfer": 1, "assumption": "r-concave"},
    "decoys": {"claim": "stable", "fdr": 0.3},
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES.keys())
def test_strong_features_are_claimed_and_the_rest_is_not(options):
    X, y = signal()
    found = discover(X, y, **options, random_state=0, n_pairs=25)
    assert isinstance(found, Discoveries)
    assert set(range(5)) <= set(found.claimed.tolist())
    assert found.claimed.size <= 8
    frame = found.to_frame()
    assert len(frame) == 60
    assert {"frequency", "statistic", "pvalue", "qvalue"} <= set(frame.columns)
    assert frame["claimed"].sum() == found.claimed.size
    assert found.conclusion.belief in ("yes", "care")
    assert "claim" in found.evidence(0)


@pytest.mark.parametrize("selector", ["lasso", "ridge", "svm", "anova"])
def test_knockoffs_with_any_importance(selector):
    X, made = linear()
    y = made > 0 if selector in ("svm", "anova") else made
    options = {"selector": selector, "fdr": 0.3, "n_draws": 3, "random_state": 0}
    found = discover(X, y, claim="conditional", method="knockoffs", **options)
    assert (found.claimed >= 25).sum() <= 0.4 * max(found.claimed.size, 1)
    if selector in ("lasso", "ridge"):
        assert found.claimed.size >= 10


def test_distilled_test_finds_what_the_others_do_not_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * rng.normal(size=150)  # says nothing more
    y = (1.5 * X[:, 0] - 1.5 * X[:, 5] + rng.normal(size=150)) > 0
    given = discover(X, y, claim="conditional", fdr=0.1, random_state=0)
    marginal = discover(X, y, fdr=0.1, random_state=0)
    assert {0, 5} <= set(given.claimed.tolist())
    assert 1 in marginal.claimed
    assert 1 not in given.claimed


def test_distilled_test_is_uniform_without_effects():
    pvalues = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 8)), np.resize([0, 1, 2], 60)
        found = discover(X, y, claim="conditional", fdr=0.1, random_state=seed)
        pvalues += found.pvalue.tolist()
    share = np.mean(np.array(pvalues) <= 0.1)
    assert abs(share - 0.1) < 4 * np.sqrt(0.09 / len(pvalues)) + 0.01


def test_same_seed_same_answer_for_any_number_of_threads():
    X, y = signal()
    for options in ({"fdr": 0.1}, {"claim": "stable"}, {"claim": "conditional"}):
        one = discover(X, y, **options, random_state=3, n_pairs=10)
        two = discover(X, y, **options, random_state=3, n_pairs=10, n_jobs=2)
        pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())


def test_features_and_rows_may_be_permuted():
    X, y = signal(60, 12)
    columns = np.random.default_rng(0).permutation(12)
    one = discover(X, y, fdr=0.1, n_permutations=99, random_state=0, n_pairs=0)
    two = discover(
        X[:, columns], y, fdr=0.1, n_permutations=99, random_state=0, n_pairs=0
    )
    np.testing.assert_allclose(one.qvalue[columns], two.qvalue)


def test_categorical_features_and_missing_values():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 90)
    X = pd.DataFrame(
        {
            "site": pd.Categorical(rng.choice(list("abc"), 90)),
            "stage": pd.Categorical(np.where(rng.random(90) < 0.85, y, 1 - y)),
            "age": np.where(rng.random(90) < 0.1, np.nan, rng.normal(size=90) + 2 * y),
        }
    )
    found = discover(X, y, selector="information-gain", fdr=0.1, random_state=0)
    assert found.claimed.tolist() == [1, 2]
    with pytest.raises(InputError, match="missing"):
        discover(X, y, claim="conditional")


def test_effects_have_intervals_for_claimed_features_only():
    X, y = signal()
    found = discover(X, y, fdr=0.1, random_state=0, n_pairs=0)
    frame = found.to_frame()
    claimed = frame[frame["claimed"]]
    assert (claimed["low"] <= claimed["effect"]).all()
    assert (claimed["effect"] <= claimed["high"]).all()
    assert frame.loc[~frame["claimed"], "low"].isna().all()
    assert "yes minus no" in found.effect_kind


@pytest.mark.parametrize(("asked", "false_coverage"), [("fdr", 0.1), ("fwer", 0.05)])
def test_intervals_of_effects_have_the_confidence_that_the_record_names(
    asked, false_coverage
):
    X, y = signal()
    found = discover(X, y, **{asked: 0.1}, random_state=0, n_pairs=0)
    share = found.claimed.size / X.shape[1]
    assert found.claimed.size
    assert found.effect_confidence == pytest.approx(1 - false_coverage * share)
    no, yes = X[y == "no"], X[y == "yes"]
    j = found.claimed[0]
    welch = stats.ttest_ind(yes[:, j], no[:, j], equal_var=False)
    low, high = welch.confidence_interval(found.effect_confidence)
    assert [found.effect_low[j], found.effect_high[j]] == pytest.approx([low, high])


def test_several_draws_agree_more_than_single_ones():
    X, made = linear(120, 40, 30)
    options = {"claim": "conditional", "method": "knockoffs", "selector": "ridge"}
    answers = {1: set(), 25: set()}
    for draws, found in answers.items():
        for seed in range(4):
            one = discover(
                X, made, **options, n_draws=draws, fdr=0.25, random_state=seed
            )
            found.add(tuple(one.claimed.tolist()))
    assert len(answers[25]) <= len(answers[1])


def test_rates_on_noise():
    """Something is claimed in at most the nominal share of noise tables."""
    n_sets = 60
    for options in ({"fdr": 0.1}, {"fwer": 0.1}, {"claim": "conditional", "fdr": 0.1}):
        n_claimed = 0
        for seed in range(n_sets):
            rng = np.random.default_rng([11, seed])
            X, y = rng.normal(size=(40, 30)), np.resize([0, 1], 40)
            found = discover(X, y, **options, random_state=seed, n_pairs=0)
            n_claimed += bool(found.claimed.size)
        assert n_claimed <= n_sets * 0.1 + 3 * np.sqrt(n_sets * 0.09)


def test_decoys_that_are_never_selected_leave_few_features_unclaimed():
    frequency = np.array([1.0] * 10 + [0.0] * 5)
    assert (decoy_qvalues(frequency, np.zeros(15))[:10] <= 0.1 + 1e-12).all()
    assert (decoy_qvalues(frequency, np.zeros(15))[10:] == 1).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fdr": 0.1, "fwer": 0.05}, "one of fdr, pfer and fwer"),
        ({"fdr": 1.5}, "below 1"),
        ({"pfer": -1}, "above 0"),
        ({"claim": "causal"}, "association"),
        ({"method": "knockoffs"}, "does not test"),
        ({"claim": "conditional", "method": "knockoffs", "fwer": 0.1}, "dcrt"),
        ({"claim": "stable", "method": "pairs", "fdr": 0.1}, "pfer"),
        ({"claim": "stable", "n_pairs": 0}, "n_pairs"),
        ({"claim": "conditional", "method": "dcrt", "selector": "ridge"}, "lasso"),
        ({"correction": "storey"}, "correction"),
        ({"n_permutations": 0}, "n_permutations"),
        ({"n_draws": 0}, "n_draws"),
        ({"strata": [1, 2]}, "one label for each"),
        ({"selector": "anvoa"}, "anova"),
        ({"groups": np.arange(80) // 2, "claim": "conditional"}, "independent"),
    ],
)
def test_bad_input_is_refused_with_its_cure(options, words):
    X, y = signal()
    with pytest.raises(InputError, match=words):
        discover(X, y, **options)


def test_few_permutations_say_what_they_cannot_claim():
    X, y = signal()
    found = discover(X, y, fdr=0.1, n_permutations=19, random_state=0, n_pairs=0)
    assert any("least p-value is 0.05" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["independent", "blocks", "heavy", "binary"])
def test_kinds_of_features_are_recognised(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 100))
    if kind == "blocks":
        X = 0.6 * X + 0.8 * np.repeat(rng.normal(size=(80, 10)), 10, axis=1)
    if kind == "heavy":
        X = rng.standard_t(3, size=(80, 100))
    if kind == "binary":
        X = (X > 0).astype(float)
    look = look_at(read_table(X, np.resize([0, 1], 80)))
    assert look.features == kind


def test_the_table_of_measured_rates_is_read_and_shown():
    rows = rate_table()
    assert len({row.look for row in rows}) >= 20
    assert all(row.error >= 0 for row in rows)
    X, y = signal(100, 200)
    found = discover(X, y, fdr=0.1, random_state=0, n_pairs=0)
    assert found.measured is not None
    assert found.measured.near
    assert found.measured.nominal == 0.1


def test_rates_are_those_of_the_kind_of_outcome():
    X, y = linear(200, 100, 5)
    numbers = discover(X, y, random_state=0, n_pairs=0)
    times = np.empty(200, dtype=[("event", bool), ("time", float)])
    times["event"], times["time"] = np.resize([1, 1, 0], 200), np.exp(-y)
    survival = discover(X, times, random_state=0, n_pairs=0)
    for found, words in ((numbers, "of numbers"), (survival, "survival times")):
        assert found.measured is not None
        assert words in found.measured.design
        assert found.measured.near
    few = discover(X[:, :10], y, random_state=0, n_pairs=0)
    assert not few.measured.near
    short = discover(X[:20, :10], y[:20], random_state=0, n_pairs=0)
    assert not short.measured.near  # as many features per sample, but few samples


def test_what_the_measured_designs_lack_is_said():
    X, y = signal(100, 200)
    codes, weights = np.arange(100) // 2 % 25, np.resize([1.0, 2.0], 100)
    for given, said in (
        ({}, None),
        ({"groups": codes}, "without groups."),
        ({"strata": codes, "sample_weight": weights}, "strata and sample weights."),
    ):
        found = discover(X, y, **given, random_state=0, n_pairs=0)
        notes = [note for note in found.notes if "measured without" in note]
        assert len(notes) == (said is not None)
        assert all(note.endswith(said) for note in notes)


def test_designs_in_which_the_rate_fails_are_warned_of():
    for row in rate_table():
        tolerated = row.nominal + 0.02 * max(1, row.nominal)
        if row.error - 2 * row.deviation > tolerated:
            assert not row.holds
            own_null = row.method == "relieff"
            assert row.look.warnings(row.method, own_null=own_null)


def test_binary_features_are_warned_of_in_conditional_claims():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 20)) > 0).astype(float)
    found = discover(X, X[:, 0], claim="conditional", random_state=0)
    assert any("binary" in text for text in found.warnings)


def test_relieff_warns_of_a_rare_class_and_of_categories():
    rng = np.random.default_rng(0)
    X, even = rng.normal(size=(60, 20)), np.resize([0, 1], 60)
    rare = (np.arange(60) < 9).astype(int)

    def warned(X, y, selector):
        found = discover(X, y, selector=selector, random_state=0, n_pairs=0)
        return [text for text in found.warnings if "Neighbours" in text]

    assert not warned(X, even, "relieff")
    assert not warned(X, rare, "anova")
    assert "rare class" in warned(X, rare, "relieff")[0]
    codes = pd.DataFrame(rng.integers(4, size=(60, 20))).astype("category")
    codes.columns = [f"x{j}" for j in range(20)]
    assert "categorical" in warned(codes, even, "relieff")[0]


def test_the_default_score_reads_categories_and_missing_values():
    X, y = signal(60, 10, 2)
    gaps = X.copy()
    gaps[3, 9] = np.nan
    mixed = pd.DataFrame(X).assign(k=pd.Categorical(np.resize(["u", "v", "w"], 60)))
    for data in (X, gaps, mixed):
        found = discover(data, y, random_state=0, n_pairs=0)
        assert found.selector == ("anova" if data is X else "information-gain")
        assert {0, 1} <= set(found.claimed.tolist())
    times = [(True, t) for t in np.arange(1.0, 61)]
    survival = np.array(times, dtype=[("event", bool), ("time", float)])
    mixed.columns = map(str, mixed.columns)
    found = discover(mixed, survival, selector="relieff", random_state=0, n_pairs=0)
    assert "'cox-score'" in found.warnings[0]


def test_a_terminal_shows_what_was_tested_and_the_warnings():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 90)) > 0).astype(float)
    found = discover(X, X[:, 0], claim="conditional", random_state=0)
    remarks = view(found).remarks
    assert {found.tested, *found.warnings} <= set(remarks)
    assert "All features were tested." not in found.notes
    few = discover(rng.normal(size=(60, 3)), X[:, 0], claim="conditional")
    assert "All features were tested." in few.notes


@pytest.mark.parametrize("claim", ["association", "conditional", "stable"])
def test_tables_and_pictures_show_what_the_method_has(claim):
    X, y = signal(100, 40)
    found = discover(X, y, claim=claim, random_state=0, n_pairs=5)
    shown = view(found)
    heads = [column.header for column in shown.tables[0].columns]
    assert ("p-value" in heads) == (claim != "stable")
    assert ("Half samples" in heads) == (claim != "conditional")
    blocks = [block for section in shown.sections for block in section.blocks]
    pictures = [b.panels[0].picture for b in blocks if isinstance(b, Figure)]
    (cloud,) = [picture for picture in pictures if isinstance(picture, Cloud)]
    assert cloud.upward == (
        "% of half samples" if claim == "stable" else "−log10 of the p-value"
    )
    places = {spot.label: spot.y for spot in cloud.spots}
    for j in found.claimed:
        assert places[f"x{j}"] >= cloud.levels[0].value


def test_progress_counts_the_halves_too():
    X, y = signal(60, 10, 2)
    told = []
    discover(
        X, y, n_permutations=500, n_pairs=150, random_state=0,
        progress=lambda *one: told.append(one),
    )  # fmt: skip
    assert told == [(250, 800), (500, 800), (750, 800), (800, 800)]


def test_a_selector_of_scikit_learn():
    from sklearn.feature_selection import SelectKBest, f_classif

    X, y = signal(60, 10, 2)
    found = discover(
        X, y, selector=SelectKBest(f_classif, k=2), fwer=0.05, n_permutations=39
    )
    assert found.claimed.tolist() == [0, 1]


def survival(X, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.exponential(np.exp(-1.2 * X[:, 0]))
    censored = rng.exponential(3, len(X))
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= censored, np.minimum(time, censored)
    return y


@pytest.mark.parametrize("kind", ["numbers", "survival"])
@pytest.mark.parametrize("claim", ["association", "conditional", "stable"])
def test_numbers_and_survival_times(kind, claim):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 15))
    y = X[:, 0] + rng.normal(size=120) if kind == "numbers" else survival(X)
    found = discover(X, y, claim=claim, fwer=0.05, random_state=0, n_pairs=50)
    assert found.claimed.tolist() == [0]
    assert found.data.kind == kind
    assert found.measured is None


def test_permuted_survival_times_have_uniform_pvalues():
    pvalues = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 10))
        y = rng.permutation(survival(X, seed))
        found = discover(X, y, fdr=0.1, n_permutations=49, random_state=seed, n_pairs=0)
        pvalues += found.pvalue.tolist()
    share = np.mean(np.array(pvalues) <= 0.2)
    assert abs(share - 0.2) < 4 * np.sqrt(0.16 / len(pvalues))


def test_a_constant_feature_is_never_claimed():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 40)
    for seed in range(20):
        X = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
        for method in ("dcrt", "knockoffs"):
            options = {"claim": "conditional", "method": method, "n_draws": 1}
            found = discover(X, y, **options, fdr=0.5, random_state=seed)
            assert found.statistic[0] == 0
            assert 0 not in found.claimed


def test_a_class_too_small_for_halves():
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.r_[1, np.zeros(29, dtype=int)]
    found = discover(X, y, random_state=0)
    assert np.isnan(found.frequency).all()
    with pytest.raises(InputError, match="too few for halves"):
        discover(X, y, claim="stable")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fdr": 0.1, "n_permutations": 19}, "a claim needs at least 30 features"),
        ({"fdr": 0.1, "n_permutations": 5}, "no feature can be claimed"),
        ({"pfer": 0.5, "n_permutations": 19}, "no feature can be claimed"),
        ({"fwer": 0.01, "n_permutations": 19}, "no feature can be claimed"),
    ],
)
def test_what_too_few_permutations_cannot_claim(options, said):
    X, y = signal()
    found = discover(X, y, **options, random_state=0, n_pairs=0)
    assert any(said in note for note in found.notes)
    if said.startswith("no "):
        assert found.claimed.size == 0


@pytest.mark.parametrize("selector", ["anova", "information-gain"])
@pytest.mark.parametrize(
    ("y", "groups", "n_ways", "n_scores"),
    [
        ("aaabbb", None, 20, 10),
        ("aabbcc", None, 90, 15),
        ("aabbc", None, 30, 15),
        ("aaaaabb", None, 21, 21),
        ("aaaabbbb", [0, 0, 1, 1, 2, 2, 3, 3], 6, 3),
        ("abababab", [0, 0, 0, 0, 1, 1, 1, 1], 36, 18),
        ("abbbaaab", [0, 0, 0, 0, 1, 1, 1, 1], 16, 16),
    ],
)
def test_few_ways_to_exchange_outcomes_are_named(y, groups, n_ways, n_scores, selector):
    """Classes of equal size may be exchanged, which changes no score."""
    X = np.random.default_rng(0).normal(size=(len(y), 40))
    X[:, 0] = [ord(one) for one in y]  # its own arrangement has the largest score
    found = discover(
        X, list(y), selector=selector, groups=groups, random_state=0, n_pairs=0
    )
    (note,) = (note for note in found.notes if "different ways only" in note)
    assert f"in {n_ways} different ways only" in note
    assert ("have the same scores" in note) == (n_scores < n_ways)
    assert f"least p-value is {1 / n_scores:.2g}" in note
    assert found.pvalue.min() == pytest.approx(1 / n_scores)


@pytest.mark.parametrize(
    ("y", "said"), [("aaabbb", True), ("aaaabbb", False), ("aaaabbbb", False)]
)
def test_one_claim_that_classes_of_equal_size_do_not_allow(y, said):
    """Three samples against three: the least p-value is 0.1."""
    X = np.random.default_rng(0).normal(size=(len(y), 5))
    X[:, 0] = [ord(one) for one in y]
    found = discover(X, list(y), fwer=0.06, random_state=0, n_pairs=0)
    assert any("no feature can be claimed" in note for note in found.notes) == said
    assert (found.claimed.size == 0) == said


@pytest.mark.parametrize(
    ("level", "measured", "n_sets", "care"),
    [
        (0.05, 0.1, 1000, False),  # measured at a nominal rate of 0.1
        (0.1, 0.14, 25, False),  # within the error of the measurement
        (0.1, 0.14, 1000, True),
    ],
)
def test_care_is_advised_where_the_measured_rate_exceeds_its_nominal(
    level, measured, n_sets, care
):
    X, y = signal()
    found = discover(X, y, fdr=level, random_state=0, n_pairs=0)
    rate = MeasuredRate(
        0.1, measured, measured, measured, 4, n_sets, "numbers", True, True
    )
    said = replace(found, measured=rate).conclusion
    assert said.sentence.startswith("Claim with care" if care else "You may claim")


def test_permutations_that_stop_early_are_enough():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), np.resize([0, 1], 60)
    found = discover(X, y, selector="variance", random_state=0, n_pairs=0)
    assert found.settings["permutations"] < 299
    assert not any("least p-value" in note for note in found.notes)


def test_one_group_of_each_class():
    X, y = signal()
    found = discover(X, y, groups=y, random_state=0)
    assert found.claimed.size == 0
    assert np.isnan(found.frequency).all()
    with pytest.raises(InputError, match="or as many groups"):
        discover(X, y, groups=y, claim="stable")


def test_what_is_exchanged_is_said():
    X, y = signal()
    found = discover(X, y, selector="relieff", n_permutations=19, n_pairs=0)
    assert (
        found.notes[0] == "The values of a feature are exchanged between all samples."
    )
    found = discover(X, y, n_permutations=19, n_pairs=0)
    assert found.notes[0] == "Outcomes are exchanged between all samples."


def test_features_that_do_not_vary_within_groups_are_named():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 6)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    X[:, 1], X[:, 4] = groups, groups % 2
    found = discover(X, y, groups=groups, random_state=0, n_pairs=0)
    assert found.tested == (
        "Tested for each feature: within groups, the feature and the outcome are "
        "independent."
    )
    assert any("2 features do not vary within groups" in note for note in found.notes)
    assert (found.pvalue[[1, 4]] == 1).all()
    whole = discover(X, y, random_state=0, n_pairs=0)
    assert "within groups" not in " ".join([whole.tested, *whole.notes])


def test_outcomes_of_whole_groups_are_tested_between_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 4)
    found = discover(
        rng.normal(size=(48, 5)), groups % 2, groups=groups, random_state=0, n_pairs=0
    )
    assert "within groups" not in found.tested
    assert not any("do not vary" in note for note in found.notes)


def test_strata_say_where_the_hypothesis_is_tested():
    rng = np.random.default_rng(0)
    X, y, strata = rng.normal(size=(40, 4)), np.resize([0, 1], 40), np.arange(40) // 20
    found = discover(X, y, strata=strata, random_state=0, n_pairs=0)
    assert ": inside strata, the feature" in found.tested
    for claim in ("conditional", "stable"):
        with pytest.raises(InputError, match="leave strata out"):
            discover(X, y, strata=strata, claim=claim)


def test_what_relieff_claims_is_what_it_tested():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 5))
    X[:, 2] += 2 * y
    found = discover(X, y, selector="relieff", random_state=0, n_pairs=0)
    says = "x2.* depends? on the outcome or on other features, at"
    assert re.search(says, found.conclusion.sentence)
    assert "values of the feature" in to_json(found)["words"]["evidence"]


def test_some_categorical_features_are_warned_of():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 5)), columns=list("abcde"))
    X["a"] = pd.Categorical(np.resize(["u", "v", "w"], 40))
    y = np.resize([0, 1], 40)
    found = discover(X, y, claim="conditional", random_state=0, n_pairs=0)
    assert any("1 of the features are categorical" in one for one in found.warnings)
    found = discover(X, y, selector="relieff", n_permutations=19, n_pairs=0)
    assert any("With categorical features, more" in one for one in found.warnings)
    y = np.arange(40) < 6
    found = discover(X, y, selector="relieff", n_permutations=19, n_pairs=0)
    assert any("categorical features and a rare" in one for one in found.warnings)


_CLAIMS = {
    "default": {"n_permutations": 19, "n_pairs": 0},
    "anova": {"selector": "anova", "n_permutations": 19, "n_pairs": 0},
    "information-gain": {
        "selector": "information-gain",
        "n_permutations": 19,
        "n_pairs": 0,
    },
    "relieff": {"selector": "relieff", "n_permutations": 19, "n_pairs": 0},
    "dcrt": {"claim": "conditional"},
    "knockoffs": {"claim": "conditional", "method": "knockoffs", "n_draws": 2},
    "pairs": {"claim": "stable", "n_pairs": 4},
    "decoys": {"claim": "stable", "fdr": 0.3, "n_pairs": 4},
    "pairs of relieff": {"claim": "stable", "selector": "relieff", "n_pairs": 4},
}
#: Words of the refusals: each names the cure.
_REFUSED = (
    "fill them in first|impute them, or use a selector|encode them as numbers, or use a"
    "|or a selector that reads survival times|which keep groups together"
    "|take no sample_weight; use claim='association'|use a score of single features"
    "|leave strata out"
)


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["plain", "groups", "weights", "strata"])
@pytest.mark.parametrize("features", ["numbers", "missing", "categorical"])
@pytest.mark.parametrize("kind", ["classes", "numbers", "survival"])
def test_each_combination_works_or_is_refused_in_words(kind, features, extra):
    rng = np.random.default_rng(0)
    n = 48
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    if features == "missing":
        X = X.mask(rng.random(X.shape) < 0.1)
    if features == "categorical":
        X["a"] = pd.Categorical(np.resize(["u", "v", "w"], n))
    y = {
        "classes": np.resize([0, 1, 2], n),
        "numbers": rng.normal(size=n),
        "survival": np.array(
            list(zip(rng.random(n) < 0.7, rng.exponential(size=n), strict=True)),
            dtype=[("event", bool), ("time", float)],
        ),
    }[kind]
    given = {
        "plain": {},
        "groups": {"groups": np.repeat(np.arange(16), 3)},
        "weights": {"sample_weight": rng.integers(1, 4, n).astype(float)},
        "strata": {"strata": np.resize([0, 1], n)},
    }[extra]
    worked, refusals = set(), []
    for name, options in _CLAIMS.items():
        try:
            found = discover(X, y, **options, **given, random_state=0, progress=False)
        except InputError as error:
            refusals.append(str(error))
            continue
        worked.add(name)
        assert found.qvalue.shape == (6,)
        assert not np.isnan(found.qvalue).any()
        p = found.pvalue[np.isfinite(found.pvalue)]
        assert ((p > 0) & (p <= 1)).all()
    assert [words for words in refusals if not re.search(_REFUSED, words)] == []
    assert "pairs of relieff" in worked or extra == "strata"
    if features == "numbers":
        assert "default" in worked
        assert ("anova" in worked) == (kind != "survival")
        assert ({"dcrt", "knockoffs"} <= worked) == (extra == "plain")
    elif features == "missing":
        assert not {"dcrt", "knockoffs", "anova"} & worked
        assert ("default" in worked) == (kind != "survival")
