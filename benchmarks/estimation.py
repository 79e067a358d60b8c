"""Cases about learners and estimates of accuracy: C4.5, the bootstrap, leave-one-out.

What a learner found is what it predicts on the rows it has learned from; what an
estimate found is its value. Both stand in ``Result.scores``.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import weka
from benchmarks.agreement import close_scores
from benchmarks.aims import Faster
from benchmarks.definitions import (
    Agreement,
    Case,
    Check,
    Contender,
    Missing,
    Problem,
    Result,
)

VERIDICAL = "veridical"
SEED = 20240111
N_SAMPLES = 100
#: Every learner is fitted so often untimed, then so often timed; the best time counts.
N_FITS = 10
#: After so many untimed fits a virtual machine has compiled what it will.
MANY_FITS = 100

MUSHROOMS = {"n": 8124, "p": 22}


# -- data ----------------------------------------------------------------------------


def mushroom(n: int, p: int) -> Problem:
    """Make the mushroom data as codes; with fewer rows random categories."""
    if n != MUSHROOMS["n"]:
        rng = np.random.default_rng(SEED)
        X = rng.integers(4, size=(n, p)).astype(np.float64)
        return Problem(X, (X[:, 0] + X[:, 1] * X[:, 2] > 3).astype(np.intp))
    from veridical._core.encoding import encode
    from veridical._core.errors import InputError
    from veridical.datasets import load

    try:
        X, y = load("mushroom")
    except InputError as error:
        raise Missing("no mushroom.csv.gz in the folder VERIDICAL_DATA") from error
    return Problem(encode(X).values, np.unique(y, return_inverse=True)[1])


def numbers(n: int, p: int) -> Problem:
    """Make normal features; the class depends on three of them, with noise."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return Problem(X, (score > 0).astype(np.intp))


# -- trees ---------------------------------------------------------------------------


def as_categories(problem: Problem) -> tuple[Any, Any]:
    """Return a data frame of categorical features."""
    import pandas as pd

    columns = {}
    for j, codes in enumerate(problem.X.T):
        names = [f"v{v}" for v in range(int(np.nanmax(codes)) + 1)]
        places = np.where(np.isnan(codes), -1, codes).astype(int)
        columns[f"x{j}"] = pd.Categorical.from_codes(places, names)
    return pd.DataFrame(columns), problem.y


def as_text(problem: Problem) -> tuple[Any, Any]:
    """Return a data frame of text, as read from a file."""
    frame, y = as_categories(problem)
    return frame.astype("string"), y


def as_indicators(problem: Problem) -> tuple[Any, Any]:
    """Return a matrix with a 0/1 feature for every category."""
    import pandas as pd

    frame, y = as_categories(problem)
    return pd.get_dummies(frame).to_numpy(np.float32), y


def as_matrix(problem: Problem) -> tuple[Any, Any]:
    return problem.X, problem.y


def c45(prepared: tuple[Any, Any]) -> Result:
    from veridical.learning import C45

    return _learn(C45(), *prepared)


def c45_of_codes(prepared: tuple[Any, Any]) -> Result:
    from veridical.learning import C45

    X, y = prepared
    return _learn(C45(categorical_features=range(X.shape[1])), X, y)


def sklearn_tree(prepared: tuple[Any, Any]) -> Result:
    from sklearn.tree import DecisionTreeClassifier

    return _learn(DecisionTreeClassifier(random_state=0), *prepared)


def _learn(model: Any, X: Any, y: Any) -> Result:
    """Time the fit alone: predictions are for the check."""
    times = []
    for _ in range(2 * N_FITS):
        started = perf_counter()
        model.fit(X, y)
        times.append(perf_counter() - started)
    note = f"best of {N_FITS} fits, after {N_FITS} untimed ones"
    return Result(scores=model.predict(X), seconds=min(times[N_FITS:]), note=note)


def j48(prepare: Callable[[Problem], weka.Table]) -> tuple[Contender, Contender]:
    """Make contenders for Weka's C4.5, with few and with many untimed calls."""
    return (
        Contender(
            "Weka J48",
            weka.classifier("trees.J48", N_FITS, N_FITS),
            prepare=prepare,
            check=same_answers(1.0),
            own_processes=True,
        ),
        Contender(
            f"Weka J48, {MANY_FITS} fits later",
            weka.classifier("trees.J48", MANY_FITS, N_FITS),
            prepare=prepare,
            check=same_answers(1.0),
            own_processes=True,
        ),
    )


def same_answers(at_least: float | None = None) -> Check:
    """Check the share of rows on which both predict the same class."""

    def check(ours: Result, theirs: Result) -> Agreement:
        share = float(np.mean(np.asarray(ours.scores) == np.asarray(theirs.scores)))
        words = f"same class on {share:.2%} of the training rows"
        return Agreement(None if at_least is None else share >= at_least, words)

    return check


_CART = "grows binary trees until every leaf is pure, and does not prune"

C45_NAMES = Case(
    name="c45-mushroom",
    title="C4.5 on the mushroom data, 22 columns of names",
    make=mushroom,
    size=MUSHROOMS,
    small={"n": 200, "p": 22},
    contenders=(
        Contender(VERIDICAL, c45_of_codes, prepare=as_matrix),
        Contender(
            "veridical, columns of categories",
            c45,
            prepare=as_categories,
            check=same_answers(1.0),
        ),
        Contender(
            "veridical, columns of text", c45, prepare=as_text, check=same_answers(1.0)
        ),
        Contender(
            "scikit-learn, one-hot",
            sklearn_tree,
            prepare=as_indicators,
            check=same_answers(),
            differs=f"{_CART}; the indicators are made beforehand (not timed)",
        ),
        *j48(weka.codes),
    ),
    aims=(
        Faster(VERIDICAL, "scikit-learn, one-hot", 0.5),
        Faster(VERIDICAL, "Weka J48", 5),
        Faster(VERIDICAL, f"Weka J48, {MANY_FITS} fits later", 5),
    ),
    notes="Timed is a fit to a table that is in memory as numbers already: codes for "
    "veridical (checked and copied in the time) and J48 (as its own `Instances`), "
    "indicators for scikit-learn. Made of a data frame, codes are part of the time. "
    "J48 gets faster for dozens of calls while its virtual machine compiles it, and "
    "how fast it ends differs from run to run: 4 to 10 ms were seen after 10 fits, "
    "2.7 to 3.8 ms after 100.",
)

C45_NUMBERS = Case(
    name="c45-numbers",
    title="C4.5 on numbers",
    make=numbers,
    size={"n": 1000, "p": 40},
    small={"n": 100, "p": 5},
    contenders=(
        Contender(VERIDICAL, c45, prepare=as_matrix),
        Contender(
            "scikit-learn",
            sklearn_tree,
            prepare=as_matrix,
            check=same_answers(),
            differs=_CART,
        ),
        *j48(weka.numbers),
    ),
    aims=(
        Faster(VERIDICAL, "scikit-learn", 0.5),
        Faster(VERIDICAL, "Weka J48", 5),
        Faster(VERIDICAL, f"Weka J48, {MANY_FITS} fits later", 5),
    ),
)


# -- estimates -----------------------------------------------------------------------


def bootstrap(plus: bool) -> Callable[[Problem], Result]:
    """Estimate by the bootstrap with Gaussian naive Bayes."""

    def run(problem: Problem) -> Result:
        from sklearn.naive_bayes import GaussianNB

        from veridical.evaluation import Bootstrap632, estimate

        method = Bootstrap632(N_SAMPLES, plus=plus)
        found = estimate(
            GaussianNB(), problem.X, problem.y, cv=method, random_state=SEED
        )
        return Result(scores=np.array([found.value]))

    return run


def bootstrap_by_fits(plus: bool) -> Callable[[Problem], Result]:
    """Estimate on the same samples with one fit per sample."""

    def run(problem: Problem) -> Result:
        from sklearn.naive_bayes import GaussianNB

        from veridical.evaluation import Bootstrap632
        from veridical.evaluation.bootstrap import plus_error

        X, y = problem.X, problem.y
        everywhere = GaussianNB().fit(X, y).predict(X)
        apparent = float(np.mean(everywhere != y))
        outside = []
        for train, test in Bootstrap632(N_SAMPLES).split(y, SEED):
            errs = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
            outside.append(errs.mean())
        error = 0.632 * float(np.mean(outside)) + 0.368 * apparent
        if plus:
            gamma = float(np.mean(y[:, None] != everywhere))
            error = plus_error(apparent, float(np.mean(outside)), gamma).error
        return Result(scores=np.array([1 - error]))

    return run


def mlxtend_bootstrap(method: str) -> Callable[[Problem], Result]:
    """Estimate as mlxtend's documentation shows it."""

    def run(problem: Problem) -> Result:
        from mlxtend.evaluate import bootstrap_point632_score
        from sklearn.naive_bayes import GaussianNB

        scores = bootstrap_point632_score(
            GaussianNB(),
            problem.X,
            problem.y,
            n_splits=N_SAMPLES,
            method=method,
            random_seed=SEED % 2**32,
        )
        return Result(scores=np.array([np.mean(scores)]))

    return run


def report_both() -> Check:
    """Show both values without a decision: samples and formulas differ."""

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = float(ours.scores[0]), float(theirs.scores[0])
        return Agreement(None, f"accuracy {b:.4f}, ours {a:.4f}")

    return check


_ITS_WAY = (
    "draws other samples, and takes the resubstitution error of each bootstrap "
    "classifier instead of that of the classifier on all rows"
)


def _bootstrap_case(name: str, title: str, method: str, times: float) -> Case:
    plus = method == ".632+"
    return Case(
        name=name,
        title=title,
        make=numbers,
        size={"n": 500, "p": 20},
        small={"n": 60, "p": 5},
        contenders=(
            Contender(VERIDICAL, bootstrap(plus)),
            Contender(
                "scikit-learn, a fit per sample",
                bootstrap_by_fits(plus),
                check=close_scores(rtol=1e-12),
            ),
            Contender(
                "mlxtend",
                mlxtend_bootstrap(method),
                check=report_both(),
                differs=_ITS_WAY,
            ),
        ),
        aims=(Faster(VERIDICAL, "mlxtend", times),),
        notes="Gaussian naive Bayes of scikit-learn, whose fits veridical replaces by "
        "corrected sums, with the same predictions.",
    )


def leave_one_out(problem: Problem) -> Result:
    from sklearn.naive_bayes import GaussianNB

    from veridical.evaluation import LeaveOut, estimate

    found = estimate(GaussianNB(), problem.X, problem.y, cv=LeaveOut(1))
    return Result(scores=found.scores)


def sklearn_leave_one_out(problem: Problem) -> Result:
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    named = cross_val_predict(GaussianNB(), problem.X, problem.y, cv=LeaveOneOut())
    return Result(scores=(named == problem.y).astype(float))


LEAVE_ONE_OUT = Case(
    name="leave-one-out",
    title="Leave-one-out with Gaussian naive Bayes",
    make=numbers,
    size={"n": 500, "p": 20},
    small={"n": 60, "p": 5},
    contenders=(
        Contender(VERIDICAL, leave_one_out),
        Contender(
            "scikit-learn", sklearn_leave_one_out, check=close_scores(rtol=0, atol=0)
        ),
    ),
    aims=(Faster(VERIDICAL, "scikit-learn", 50),),
    notes="`cross_val_predict(cv=LeaveOneOut())`, case by case the same hits.",
)

CASES = (
    C45_NAMES,
    C45_NUMBERS,
    _bootstrap_case("bootstrap-632", ".632 bootstrap, 100 samples", ".632", 3),
    _bootstrap_case("bootstrap-632-plus", ".632+ bootstrap, 100 samples", ".632+", 50),
    LEAVE_ONE_OUT,
)
