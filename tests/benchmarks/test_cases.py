"""The table of cases is sound, and its data are what the cases say of them."""

import numpy as np
import pytest
from benchmarks.cases import CASES, find
from benchmarks.comparison import (
    compare_selectors,
    pipelines_of_ours,
    same_accuracy,
    skrebate_inside,
    splits,
)
from benchmarks.definitions import Result
from benchmarks.elimination import ROUNDS, sample_widths
from benchmarks.python_packages import products, standardized
from benchmarks.training_sets import EVERY, MANY_AIMS

from benchmarks import elimination, problems
from veridical.selection import SELECTORS


def test_every_selector_is_asked_for_many_sets_and_for_its_memory():
    assert set(EVERY) == set(SELECTORS)
    assert {f"rank-many-{name}" for name in SELECTORS} <= set(CASES)
    memory = {
        contender.name
        for case in ("memory", "memory-survival")
        for contender in CASES[case].contenders
    }
    assert memory == set(SELECTORS)
    assert set(MANY_AIMS) <= set(SELECTORS)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_names_in_a_case_are_unique_and_aims_name_contenders(case):
    names = [contender.name for contender in case.contenders]
    assert len(set(names)) == len(names)
    for aim in case.aims:
        assert {aim.contender, getattr(aim, "than", aim.contender)} <= set(names)
    for contender in case.contenders:
        assert contender.compared_with in (None, *names)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_contenders_that_are_not_compared_have_a_reason(case):
    # In the cases about cost alone the contenders are veridical itself.
    if case.name.startswith("memory"):
        return
    for contender in case.contenders[1:]:
        fits = contender.name == "ten fits"
        assert contender.check is not None or contender.differs or fits


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_a_problem_is_the_same_in_every_process(case):
    first = case.problem(small=True, limit=1.0)
    again = case.problem(small=True, limit=1.0)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert first.X.shape == (case.small["n"], case.small["p"])
    assert np.unique(first.y).size >= 2
    assert first.limit == 1.0


def test_uniform_columns_fill_the_unit_interval():
    X = problems.uniform(50, 40).X
    assert np.all(X.min(axis=0) == 0.0)
    assert np.all(X.max(axis=0) == 1.0)


def test_bins_have_equal_counts():
    X = problems.binned(100, 7).X
    assert np.issubdtype(X.dtype, np.integer)
    for column in X.T:
        assert np.bincount(column).tolist() == [20] * 5


def test_folds_leave_every_row_out_once():
    problem = problems.normal(53, 5, n_folds=10)
    left_out = [np.setdiff1d(np.arange(53), rows) for rows in problem.folds]
    assert np.array_equal(np.sort(np.concatenate(left_out)), np.arange(53))


def test_products_start_from_correlations():
    problem = problems.normal(30, 12)
    Z, k = standardized(problem)
    assert np.allclose(Z.T @ Z, np.corrcoef(problem.X.T))
    assert k == problem.n_selected
    assert products((Z, k)).order is None


def test_cases_are_found_by_name_or_beginning():
    assert [case.name for case in find(["relieff"])] == ["relieff"]
    assert [case.name for case in find(["information"])] == [
        "information-gain",
        "information-gain-binned",
    ]
    assert len(find([])) == len(CASES)
    with pytest.raises(ValueError, match="no case 'releif'"):
        find(["releif"])


@pytest.mark.parametrize("n_features", [11, 29, 120, 9000])
def test_sampled_stretches_do_not_overlap(n_features):
    widths = sample_widths(10, n_features)
    assert widths[-1] == n_features
    assert min(np.diff(widths), default=ROUNDS) >= ROUNDS


@pytest.mark.parametrize("whole", [np.inf, 0.0])
def test_elimination_drops_what_scikit_learn_drops(whole, monkeypatch):
    monkeypatch.setattr(elimination, "WHOLE_SECONDS", whole)
    problem = problems.normal(40, 70)
    given = problems.Problem(problem.X, problem.y, 10, limit=np.inf)
    path = elimination.with_elimination(given)
    result = elimination.sklearn_rfe(elimination.TIGHT_TOLERANCE)(path)
    assert result.seconds > 0
    known = result.order >= 0
    if whole:
        assert known.tolist() == 10 * [False] + 60 * [True]
        assert result.note == ""
    else:
        # Sampled: what was dropped at each stage, and nothing else, is told.
        assert known.sum() == ROUNDS * len(sample_widths(10, 70))
        assert result.note.startswith("extrapolated")
    assert result.order[known].tolist() == path.order[known].tolist()


def test_comparing_agrees_with_scikit_learns_pieces_fold_by_fold():
    problem = problems.normal(80, 30, n_folds=5)
    ours, theirs = compare_selectors(problem), pipelines_of_ours(problem)
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-12)
    for train, test in splits(problem):
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(80))


@pytest.mark.parametrize(("limit", "n_known"), [(np.inf, 3), (0.0, 1)])
def test_folds_that_were_not_timed_are_estimated_and_said_so(limit, n_known):
    made = problems.normal(40, 12, n_folds=3)
    problem = problems.Problem(made.X, made.y, 4, made.folds, limit)
    result = skrebate_inside(problem)
    assert np.isfinite(result.scores).sum() == n_known
    assert result.note == ("" if limit else "extrapolated: 1 of 3 folds timed")
    assert result.seconds > 0
    check = same_accuracy(0.2)(compare_selectors(problem), result)
    assert check.holds


def test_accuracies_are_compared_on_the_folds_that_both_have():
    ours = Result(scores=np.array([0.8, 0.2]))
    check = same_accuracy(0.05)
    assert check(ours, Result(scores=np.array([0.82, np.nan]))).holds
    assert check(ours, Result(scores=np.array([0.82, 0.9]))).holds is False
