"""estimate(): against scikit-learn, its refusals, its notes, and how it looks."""

import io
import pickle
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import estimation as oracle

from veridical import compare, report, select
from veridical._core.advice import for_the_command_line
from veridical._core.errors import InputError
from veridical._core.records import DataSummary
from veridical._core.splits import Split, Splitter
from veridical.datasets import make_random_labels, table_hash
from veridical.evaluation import (
    Bootstrap632,
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    RandomSubsampling,
    Resubstitution,
    default_interval,
    estimate,
)
from veridical.evaluation.estimating import accuracy_of_hits
from veridical.evaluation.naming import make_method, read_cv
from veridical.evaluation.records import Estimate, Estimates
from veridical.evaluation.situations import Situation
from veridical.learning import NaiveBayes
from veridical.report import to_json

X, Y = load_iris(return_X_y=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]
TREE = DecisionTreeClassifier(random_state=0)
MAJORITY = DummyClassifier(strategy="most_frequent")

EVERY_METHOD = [
    Resubstitution(),
    Holdout(),
    RandomSubsampling(4),
    CrossValidation(5),
    CrossValidation(3, stratified=False, n_repeats=2),
    LeaveOut(7),
    KFold(4, shuffle=True),
    ShuffleSplit(3),
]


# -- values --------------------------------------------------------------------------


@pytest.mark.parametrize("method", EVERY_METHOD, ids=str)
@pytest.mark.parametrize("model", [TREE, GaussianNB()], ids=str)
def test_pools_what_a_plain_loop_finds(method, model):
    found = estimate(model, X, SPECIES, cv=method, random_state=3)
    splits = read_cv(method).split(SPECIES, 3)
    assert found.value == oracle.pooled_accuracy(model, X, SPECIES, splits)
    assert len(found.scores) == len(splits)


@pytest.mark.parametrize(
    "cv", [KFold(7), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)]
)
def test_splitters_give_scikit_learns_scores(cv):
    found = estimate(SVC(), X, Y, cv=cv)
    np.testing.assert_array_equal(found.scores, cross_val_score(SVC(), X, Y, cv=cv))
    assert found.std == pytest.approx(found.scores.std(ddof=1))
    assert found.std_of_mean == pytest.approx(found.std / np.sqrt(len(found.scores)))


def test_leave_one_out_is_scikit_learns():
    predicted = cross_val_predict(TREE, X, Y, cv=LeaveOneOut())
    found = estimate(TREE, X, Y, cv=LeaveOut(1))
    np.testing.assert_array_equal(found.scores, predicted == Y)


def test_complete_cv_averages_over_every_choice():
    rows = np.r_[0:4, 50:54, 100:103]
    found = estimate(TREE, X[rows], Y[rows], cv=CompleteCV(2))
    splits = CompleteCV(2).split(Y[rows])
    expected = oracle.pooled_accuracy(TREE, X[rows], Y[rows], splits)
    assert found.value == pytest.approx(expected)
    assert len(found.scores) == 55


def test_pooling_differs_from_averaging_folds_of_different_size():
    rows = np.arange(0, 150, 2)[:71]
    found = estimate(TREE, X[rows], Y[rows], cv=CrossValidation(10), random_state=1)
    assert found.details["mean_of_splits"] == pytest.approx(found.scores.mean())
    assert found.value != found.details["mean_of_splits"]


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("n_folds", [2, 5, 10, 20, 150])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_constant_classifier_gets_its_share_whatever_the_folds(n_folds, stratified):
    model = DummyClassifier(strategy="constant", constant="setosa")
    values = {
        estimate(
            model,
            X,
            SPECIES,
            cv=CrossValidation(n_folds, stratified=stratified),
            random_state=seed,
        ).value
        for seed in range(3)
    }
    assert values == {50 / 150}


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse", "list"])
def test_takes_data_in_any_form(kind):
    forms = {
        "array": X,
        "pandas": pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) + 7),
        "sparse": sparse.csr_array(X),
        "list": X.tolist(),
    }
    if kind == "polars":
        polars = pytest.importorskip("polars")
        forms["polars"] = polars.DataFrame(X, schema=list("abcd"))
    found = estimate(TREE, forms[kind], pd.Series(SPECIES), random_state=0)
    assert found.value == estimate(TREE, X, SPECIES, random_state=0).value


def test_an_estimator_of_texts_is_evaluated():
    documents = ["spam ham", "ham eggs", "spam spam", "eggs eggs"] * 5
    labels = ["s", "e", "s", "e"] * 5
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    assert estimate(model, documents, labels, random_state=0).value > 0.7


# -- chance --------------------------------------------------------------------------


def test_data_with_a_name_are_described(tmp_path):
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    found = estimate("nb", frame, labels, name="iris.csv", random_state=0)
    assert found.data.name == "iris.csv"
    assert (found.data.n_samples, found.data.n_features) == frame.shape
    assert found.data.feature_names == tuple(frame.columns)
    assert dict(found.data.classes) == {"0": 50, "1": 50, "2": 50}
    assert found.to_dict()["data"]["name"] == "iris.csv"
    assert "iris.csv" in found.save(tmp_path / "page.html").read_text()
    unnamed = estimate("nb", frame, labels, random_state=0)
    assert unnamed.data == replace(found.data, name="the data")
    assert unnamed.value == found.value


def test_a_name_for_data_that_are_no_table_changes_nothing():
    texts = ["good day", "bad day", "good night", "bad night"] * 5
    labels = ["good", "bad"] * 10
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    found = estimate(model, texts, labels, cv=5, name="texts", random_state=0)
    assert found.value == 1
    assert found.data is None


def test_two_estimators_are_compared_on_the_same_folds():
    seen = {}

    class Spy(ClassifierMixin, BaseEstimator):
        def __init__(self, name="a"):
            self.name = name

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            seen.setdefault(self.name, []).append(X[:, 0].tolist())
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    rows = np.arange(150.0).reshape(-1, 1)
    for name in "ab":
        estimate(Spy(name), rows, Y, random_state=5)
    expected = [split.train.tolist() for split in CrossValidation(10).split(Y, 5)]
    assert seen["a"] == seen["b"] == expected


@pytest.mark.parametrize(
    "method", [CrossValidation(5), Bootstrap632(7), LeaveOut(20)], ids=str
)
def test_number_of_processes_does_not_matter(method):
    forest = RandomForestClassifier(5)
    one, two = (
        estimate(forest, X, Y, cv=method, random_state=1, n_jobs=n) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.value == two.value


def test_a_fresh_seed_is_shown_and_repeats_the_run():
    forest = RandomForestClassifier(3, max_depth=1, max_features=1)
    first = estimate(forest, X, Y)
    again = estimate(forest, X, Y, random_state=first.random_state)
    np.testing.assert_array_equal(first.scores, again.scores)
    assert forest.random_state is None


# -- scorers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", "neg_log_loss", make_scorer(matthews_corrcoef)]
)
def test_other_scores_are_averaged_over_splits(scoring):
    cv = KFold(5, shuffle=True, random_state=0)
    found = estimate(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    expected = cross_val_score(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    sign = -1.0 if scoring == "neg_log_loss" else 1.0  # a loss is shown as a loss
    np.testing.assert_allclose(sign * found.scores, expected, rtol=1e-12)
    assert sign * found.value == pytest.approx(expected.mean())
    assert list(found.assumes) == ["corrected-t"]
    with pytest.raises(InputError, match="kind='wilson' is no interval"):
        found.interval(kind="wilson")


def test_bootstrap_weighs_other_scores_too():
    found = estimate(
        GaussianNB(), X, Y, cv=Bootstrap632(10), scoring="f1_macro", random_state=0
    )
    assert found.value == pytest.approx(
        0.632 * found.details["outside"] + 0.368 * found.details["resubstitution"]
    )
    with pytest.raises(InputError, match="defined for accuracy only"):
        estimate(GaussianNB(), X, Y, cv=Bootstrap632(plus=True), scoring="f1_macro")


# -- intervals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kinds"),
    [
        (Resubstitution(), []),
        (Holdout(), ["wilson"]),
        (RandomSubsampling(5), ["corrected-t"]),
        (CrossValidation(5), ["wilson", "nested", "corrected-t"]),
        (CrossValidation(2), ["wilson", "corrected-t"]),
        (LeaveOut(1), ["wilson"]),
        (LeaveOut(10), ["wilson", "corrected-t"]),
        (Bootstrap632(5), []),
        (KFold(5, shuffle=True), ["wilson", "corrected-t"]),
        (ShuffleSplit(5), ["corrected-t"]),
        (ShuffleSplit(1), ["wilson"]),
        ([(np.arange(150), np.arange(150))], []),
    ],
    ids=str,
)
def test_intervals_are_offered_where_they_are_valid(method, kinds):
    found = estimate(GaussianNB(), X, Y, cv=method, random_state=0)
    assert list(found.assumes) == kinds
    if not kinds:
        with pytest.raises(InputError, match="no valid interval"):
            found.interval()
    for kind in kinds:
        low, high = found.interval(kind=kind)
        inner = found.interval(0.5, kind)
        assert 0 <= low < inner[0] < inner[1] <= high <= 1
        assert len(found.assumes[kind]) > 20


def test_hits_on_some_of_the_samples_offer_no_interval_of_all():
    splits = [Split(np.array([i, i + 1]), 9) for i in (0, 2, 4)]
    hits = [np.array([True, right]) for right in (True, False, True)]

    found = accuracy_of_hits(
        Splitter([tuple(split) for split in splits]),
        splits,
        hits,
        Situation(9, 4, 4, 2, 0.5, "any", np.nan),
        random_state=0,
    )

    assert found.value == pytest.approx(5 / 6)
    assert set(found.assumes) == {"corrected-t"}


def test_interval_of_cross_validation_counts_each_sample_once():
    found = estimate(TREE, X, Y, cv=CrossValidation(5, n_repeats=3), random_state=0)
    assert found.n_test == 150
    expected = oracle.wilson(found.value, 150, 1.959963984540054)
    assert found.interval(kind="wilson") == pytest.approx(expected)
    assert found.interval(kind="nested") == found.interval(kind="nested")


def test_an_estimate_can_be_pickled_with_its_nested_interval():
    found = estimate(GaussianNB(), X, Y, cv=CrossValidation(3), random_state=0)
    again = pickle.loads(pickle.dumps(found))
    assert again.interval(kind="nested") == found.interval(kind="nested")


# -- failures, detected ----------------------------------------------------------------


def test_leave_one_out_of_the_majority_is_nothing():
    found = estimate(MAJORITY, X, Y, cv=LeaveOut(1))
    assert found.value == 0
    assert found.std == 0
    assert "wrong about nearly all" in found.notes[0]
    assert "33.3 %" in found.notes[0]


def test_majority_classifier_is_noticed_under_other_methods():
    lean = np.where(np.arange(150) < 100, "yes", "no")
    for method in (LeaveOut(1), CrossValidation(10), Holdout()):
        found = estimate(MAJORITY, X, lean, cv=method, random_state=0)
        assert "Every prediction is 'yes'" in found.notes[0]
    found = estimate(MAJORITY, X, Y, cv=RandomSubsampling(20), random_state=0)
    assert "estimate is too low" in found.notes[0]
    assert found.value < 1 / 3
    assert not estimate(TREE, X, Y, random_state=0).notes


def test_test_set_of_one_class_gives_no_note_on_the_estimator():
    """The classes are in order: the last third is tested, and named as the nearest."""
    with pytest.warns(UserWarning, match="Class 2 is missing"):
        found = estimate(GaussianNB(), X, Y, cv=[(range(100), range(100, 150))])
    assert found.value == 0
    assert not [note for note in found.notes if "nothing was learned" in note]


def test_scores_that_do_not_vary_are_not_taken_for_certainty():
    found = estimate(GaussianNB(), X[:100], Y[:100], scoring="roc_auc", random_state=0)
    assert set(found.scores) == {1.0}
    assert not found.assumes
    assert "All 10 of them are 1" in found.notes[0]
    with pytest.raises(InputError, match="scores do not vary"):
        found.interval()
    right = estimate(GaussianNB(), X[:100], Y[:100], random_state=0)
    assert list(right.assumes) == ["wilson", "nested"]
    assert not right.notes


def test_a_memoriser_is_noticed_by_632():
    data, labels = make_random_labels(80, random_state=0)
    model = KNeighborsClassifier(1)
    found = estimate(model, data, labels, cv=Bootstrap632(20), random_state=0)
    assert found.details["resubstitution"] == 1
    assert "has memorised its training samples" in found.notes[0]
    assert found.value > 0.6
    plus = estimate(model, data, labels, cv=Bootstrap632(20, plus=True), random_state=0)
    assert not any("memorised" in note for note in plus.notes)
    assert "Use Bootstrap632(plus=True) or CrossValidation(10)." in found.notes[0]
    with for_the_command_line():
        asked = estimate(model, data, labels, cv=Bootstrap632(20), random_state=0)
    assert "Use --cv boot632+ or --cv 10." in asked.notes[0]
    assert plus.value < 0.6
    again = estimate(model, data, labels, cv=Resubstitution())
    assert again.value == 1
    assert "memorised" in again.notes[0]


class Parrot(ClassifierMixin, BaseEstimator):
    """Repeats the labels of the samples it knows, wrongly now and then; guesses others.

    Parameters
    ----------
    slip : int
        It is wrong about every `slip`-th sample that it knows.
    """

    def __init__(self, slip=50):
        self.slip = slip

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        wrong = X[:, 0].astype(int) % self.slip == 0
        said = np.where(wrong, 1 - y, y)
        self.known_ = dict(zip(X[:, 0].tolist(), said.tolist(), strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_.get(v, int(v) // 3 % 2) for v in X[:, 0]])


@pytest.mark.parametrize(("slip", "noted"), [(200, True), (30, True), (7, False)])
def test_near_memorisers_are_noticed_by_the_stated_rule(slip, noted):
    """Wrong about at most a tenth as many known samples as of others."""
    X, y = np.arange(1, 201.0).reshape(-1, 1), make_random_labels(200)[1]
    found = estimate(Parrot(slip), X, y, cv=Bootstrap632(20), random_state=0)
    inside, outside = found.details["resubstitution"], found.details["outside"]
    assert inside == 1 - (200 // slip) / 200
    assert (1 - inside <= 0.1 * (1 - outside)) == noted
    assert any("nearly memorised" in note for note in found.notes) == noted
    if noted:
        plus = estimate(
            Parrot(slip), X, y, cv=Bootstrap632(20, plus=True), random_state=0
        )
        assert (
            f".632+ of the same samples is {100 * plus.value:.1f} %" in found.notes[0]
        )


def test_accurate_estimator_is_not_called_memorising():
    found = estimate(GaussianNB(), X, Y, cv=Bootstrap632(20), random_state=0)
    assert not found.notes


def test_632_plus_says_when_guessing_is_better():
    data = np.arange(40.0).reshape(-1, 1)
    labels = np.arange(40) % 2  # the nearest sample is of the other class
    found = estimate(
        KNeighborsClassifier(1),
        data,
        labels,
        cv=Bootstrap632(20, plus=True),
        random_state=0,
    )
    outside = found.details["outside"]
    assert outside < 0.5
    assert found.value == pytest.approx(0.5)
    assert found.scores.mean() == pytest.approx(0.5, abs=1e-12)
    in_part = 0.632 * outside + 0.368 * 0.5
    assert found.details["cut_in_part"] == pytest.approx(in_part)
    assert "worse than guessing" in found.notes[0]
    assert found.notes[0].endswith(f"would be {100 * in_part:.1f} %.")


def test_a_class_missing_from_a_training_set_is_warned_of():
    labels = np.array(["a"] * 20 + ["b"] * 20 + ["rare"])
    data = np.random.default_rng(0).normal(size=(41, 2))
    data[20:, 0] += 9
    with pytest.warns(UserWarning, match="Class 'rare' is missing from the training"):
        found = estimate(SVC(), data, labels, cv=LeaveOut(1))
    assert found.value <= 40 / 41
    assert any("count as errors" in note for note in found.notes)
    with pytest.warns(UserWarning, match="fewer than the 5 folds"):
        estimate(SVC(), data, labels, cv=CrossValidation(5))


def test_a_training_set_of_one_class_names_it():
    data, labels = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "a", "b"])
    with pytest.warns(UserWarning, match="one class only"):
        found = estimate(SVC(), data, labels, cv=LeaveOut(1))
    assert found.scores.tolist()[2] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiny = estimate(SVC(), data[1:], labels[1:], cv=Bootstrap632(20))
    assert 0 <= tiny.value <= 1
    assert any("drawn again" in note for note in tiny.notes)


# -- refusals ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(150)}, "only one class"),
        ({"y": Y[:-1]}, "150 rows but 149 labels"),
        ({"y": Y + 0.5}, "must be classes"),
        ({"y": np.where(Y == 0, np.nan, Y)}, "target is missing in rows 0, 1"),
        ({"y": np.c_[Y, Y]}, "2 dimensions"),
        ({"cv": CrossValidation(151)}, "cv=151 folds are not possible with 150"),
        ({"cv": "cv"}, "There is no method 'cv'"),
        ({"estimator": GaussianNB}, "is the class GaussianNB"),
        ({"estimator": MinMaxScaler()}, r"MinMaxScaler\(\) is not a classifier"),
        ({"estimator": 7}, "not a scikit-learn estimator"),
        ({"scoring": "accurcy"}, "is not a scorer; did you mean 'accuracy'"),
        ({"scoring": 3}, "must be the name of a scorer"),
        ({"random_state": "x"}, "cannot be used as a seed"),
        ({"n_jobs": 0, "estimator": TREE}, "n_jobs=0 does no work"),
        (
            {"n_jobs": "a"},
            "n_jobs='a' is not a number of processes; use a whole number",
        ),
        ({"n_jobs": 1.5}, "n_jobs=1.5 is not a number of processes"),
        ({"X": None}, "X is None; pass the features"),
        ({"X": "a.csv"}, r"X is 'a.csv', .*veridical.datasets.read\(path, target\)"),
        ({"X": Path("a.csv")}, r"X is 'a.csv', .*veridical.datasets.read"),
        (
            {"estimator": NaiveBayes(), "X": [["1.5m"], ["2m"]] * 75},
            "Column 0 of X holds '1.5m'",
        ),
    ],
)
def test_bad_input_is_refused_in_words(change, message):
    arguments = {"estimator": GaussianNB(), "X": X, "y": Y} | change
    with pytest.raises(InputError, match=message):
        estimate(**arguments)


# -- how it looks --------------------------------------------------------------------


def hostile():
    return DummyClassifier(strategy="constant", constant="<script>alert(1)</script>")


def test_one_line_says_what_matters():
    found = estimate(GaussianNB(), X, Y, random_state=0)
    assert repr(found) == (
        "<Estimate: accuracy 95.3 %, 95 % interval 88.0 to 100.0 % (corrected-t), by "
        "stratified 10-fold cross-validation>"
    )
    assert "(wilson), by holdout" in repr(estimate(TREE, X, Y, cv=Holdout()))
    assert "(nested), by stratified" in repr(found.with_nested())
    assert "(corrected-t), by stratified" in repr(found)  # a record does not change
    noted = estimate(MAJORITY, X, Y, cv=Bootstrap632(5), random_state=0)
    assert isinstance(noted, Estimate)
    assert "interval" not in repr(noted)


def test_terminal_and_notebook_show_value_interval_assumption_and_notes():
    labels = np.array(["<script>alert(1)</script>", "b"])[(Y > 0).astype(int)]
    found = estimate(hostile(), X, labels, random_state=0)
    lean = estimate(MAJORITY, X, labels, random_state=0)
    screen = io.StringIO()
    Console(file=screen, width=200).print(found)
    page = found._repr_html_()
    for text in (screen.getvalue(), page):
        assert "33.3 %" in text
        assert "assumes that the estimator is stable" in text
        assert "stratified 10-fold" in text
    measured = estimate(GaussianNB(), X, Y, random_state=0)._repr_html_()
    assert "measured coverage" in measured
    assert "<script>" not in page
    assert "http" not in page
    whole = report.page(found)
    assert "<script>alert" not in whole
    assert "&lt;script&gt;alert" in whole
    assert "nothing was learned" in lean._repr_html_()
    bare = estimate(TREE, X, Y, cv=Resubstitution())
    assert "no interval is valid" in bare._repr_html_()


def test_its_page_tells_how_to_repeat_it():
    found = estimate("nb", X, Y, cv="boot632+-10", random_state=3)
    assert found.settings["table sha256"] == table_hash(X, Y)
    page = report.page(found).replace("&#39;", "'")
    for text in (
        "Naive Bayes classifies an estimated",
        ".632+ bootstrap, 10 bootstrap samples",
        "NaiveBayes()",
        found.settings["table sha256"],
        found.settings["versions"],
        "estimate('nb', X, y, cv='boot632+-10', random_state=3)",
        "relative overfitting rate",
    ):
        assert text in page
    told = found.to_dict()
    assert told["settings"] == {**found.settings, "scoring": ["accuracy"]}
    assert told["words"]["belief"] == found.conclusion.belief == "care"
    assert told["words"]["headline"] == found.conclusion.sentence


@pytest.mark.parametrize("name", ["10", "boot632+-10", "loo"])
def test_a_method_may_be_called_by_its_name(name):
    found, expected = (
        estimate(GaussianNB(), X, Y, cv=method, random_state=0)
        for method in (name, make_method(name))
    )
    assert found.value == expected.value
    assert found.method == expected.method


# -- the default interval ------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("10", "corrected-t"),
        ("2", "wilson"),
        ("10x10", "corrected-t"),
        ("loo", "wilson"),
        ("holdout", "wilson"),
        ("subsampling20", "corrected-t"),
        (KFold(5), "corrected-t"),
        ("boot632", None),
    ],
    ids=str,
)
def test_the_default_interval_is_the_one_with_the_best_coverage(method, kind):
    found = estimate(GaussianNB(), X, Y, cv=method, random_state=0)
    assert default_interval(found) == kind
    if kind is not None:
        assert found.interval() == found.interval(kind=kind)


def test_all_that_shows_an_estimate_shows_the_default_interval():
    found = estimate(GaussianNB(), X, Y, cv="10", random_state=0)

    def shown(found):
        low, high = (f"{100 * bound:.1f}" for bound in found.interval())
        text = f"{low} to {high} %"
        assert text in repr(found)
        assert text in found._repr_html_().replace("\N{NO-BREAK SPACE}", " ")
        console = Console(file=io.StringIO(), width=400)
        console.print(found)
        assert text in console.file.getvalue()
        data = DataSummary("iris", 150, 4, {"0": 50, "1": 50, "2": 50}, ())
        summary = to_json(Estimates(data, "naive Bayes", (found,)))
        first = summary["estimates"][0]["intervals"][0]
        assert (first["low"], first["high"]) == found.interval()
        assert first["kind"] == default_interval(found)
        return first["kind"]

    assert shown(found) == "corrected-t"
    concluded = found.conclusion
    found.interval(kind="nested")  # many more fits, asked for
    assert shown(found) == "corrected-t"
    assert found.conclusion is concluded
    assert "nested" not in found.intervals
    assert shown(found.with_nested()) == "nested"
    assert "nested cross-validation interval" in found.with_nested().conclusion.sentence


def test_a_nested_interval_that_is_not_valid_is_refused():
    with pytest.raises(InputError, match="kind='nested' is no interval for accuracy"):
        estimate(GaussianNB(), X, Y, cv=Holdout(), random_state=0).with_nested()


# -- samples that are both learned from and tested ----------------------------------


OVERLAPPING = [
    (np.arange(0, 100), np.arange(90, 150)),
    (np.arange(50, 150), np.arange(0, 50)),
    (np.arange(0, 150), np.arange(0, 150, 3)),
]


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_test_samples_in_the_training_set_are_warned_of(scoring):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    cv = [(order[train], order[test]) for train, test in OVERLAPPING]

    with pytest.warns(UserWarning, match=r"also training samples in 2 of 3 splits"):
        found = estimate(GaussianNB(), X, y, cv=cv, scoring=scoring, random_state=0)

    assert "optimistic" in found.notes[0]
    assert not found.assumes


def test_select_and_compare_warn_of_test_samples_in_the_training_set():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    cv = [(order[train], order[test]) for train, test in OVERLAPPING]
    options = {"cv": cv, "n_features_to_select": 2, "random_state": 0}
    told = "also training samples in 2 of 3 splits"

    with pytest.warns(UserWarning, match=told):
        found = select("anova", X, y, estimator="nb", **options)
    assert told in found.notes[0]
    with pytest.warns(UserWarning, match=told):
        compare(["anova", "relieff"], X, y, estimator="nb", **options)


def test_resubstitution_says_once_that_it_is_optimistic():
    X, y = load_iris(return_X_y=True)

    found = estimate(GaussianNB(), X, y, cv="resubstitution")

    assert sum("optimistic" in note for note in found.notes) == 1
