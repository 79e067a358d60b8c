"""The cases about learners and estimates: contenders that should agree do."""

import numpy as np
import pytest
from benchmarks.definitions import Missing, Result
from benchmarks.estimation import CASES, as_categories, as_text, mushroom, same_answers

from benchmarks import estimation, weka

BY_NAME = {case.name: case for case in CASES}


def results(case, names=None):
    problem = case.problem(small=True, limit=60.0)
    return {
        contender.name: contender.run(contender.prepare(problem))
        for contender in case.contenders
        if names is None or contender.name in names
    }


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("c45-mushroom", "veridical, columns of categories"),
        ("c45-mushroom", "veridical, columns of text"),
        ("c45-mushroom", "scikit-learn, one-hot"),
        ("c45-numbers", "scikit-learn"),
        ("bootstrap-632", "scikit-learn, a fit per sample"),
        ("bootstrap-632-plus", "scikit-learn, a fit per sample"),
        ("leave-one-out", "scikit-learn"),
    ],
)
def test_contenders_find_the_same_on_a_small_problem(case, name):
    found = results(BY_NAME[case], ("veridical", name))
    agreement = BY_NAME[case].contender(name).check(found["veridical"], found[name])
    told_only = BY_NAME[case].contender(name).differs
    assert agreement.holds is (None if told_only else True), agreement.words


def test_a_different_value_is_noticed():
    case = BY_NAME["bootstrap-632-plus"]
    ours = results(case, ("veridical",))["veridical"]
    other = Result(scores=ours.scores + 1e-6)
    check = case.contender("scikit-learn, a fit per sample").check
    assert check(ours, other).holds is False
    assert (
        same_answers(1.0)(Result(scores=[0, 1]), Result(scores=[0, 0])).holds is False
    )


def test_the_three_forms_of_a_table_are_one_table():
    problem = mushroom(50, 4)
    problem.X[3, 2] = np.nan
    frame, _ = as_categories(problem)
    text, _ = as_text(problem)
    assert frame.iloc[:, 2].isna().tolist() == np.isnan(problem.X[:, 2]).tolist()
    assert frame.astype("string").equals(text)
    codes = np.column_stack([frame[c].cat.codes for c in frame])
    np.testing.assert_array_equal(codes, np.nan_to_num(problem.X, nan=-1))


def test_without_the_data_the_case_says_so(monkeypatch):
    monkeypatch.setenv("VERIDICAL_DATA", "/nowhere")
    monkeypatch.setenv("HOME", "/nowhere")
    with pytest.raises(Missing, match="VERIDICAL_DATA"):
        estimation.mushroom(**estimation.MUSHROOMS)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["c45-mushroom", "c45-numbers"])
def test_j48_grows_the_same_tree(case):
    try:
        weka.find_jar()
    except Missing as missing:
        pytest.skip(str(missing))
    found = results(BY_NAME[case], ("veridical", "Weka J48"))
    check = BY_NAME[case].contender("Weka J48").check
    assert check(found["veridical"], found["Weka J48"]).holds


def test_mlxtend_is_asked_in_both_ways():
    pytest.importorskip("mlxtend")
    found = results(BY_NAME["bootstrap-632"])
    value = float(found["mlxtend"].scores[0])
    assert value == pytest.approx(float(found["veridical"].scores[0]), abs=0.1)
