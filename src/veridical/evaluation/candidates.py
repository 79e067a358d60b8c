"""What there is to choose from: selectors × sizes × estimators, and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from veridical._core.advice import for_users
from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.scoring import Score
from veridical._core.seeds import seeded
from veridical._core.table import Table
from veridical._core.targets import Kind
from veridical._core.text import listed
from veridical._core.validation import count_features
from veridical.evaluation.arguments import name_of, read_estimator, read_selector
from veridical.evaluation.engine import Procedure, set_size
from veridical.learning import make_estimator
from veridical.learning.many import PredictMany, as_dense
from veridical.selection import SELECTORS

#: What the candidates without selection, and without features, are called.
NO_SELECTION = "no selection"
NO_FEATURES = "no features"
#: Sizes on a log scale, as far as the table allows.
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: Selectors by default, in order of preference, and how many of them.
_SELECTORS = (
    *("anova", "cox-score", "correlation", "mrmr", "relieff", "concordance"),
    *("information-gain", "fcbf", "hsic"),
)
_N_SELECTORS = 3
#: Cost above which a selector is not tried by default: n**power * p.
_LARGEST_COST = 4e9
#: Estimators by default: names, or pairs of a name and a parameter grid.
_ESTIMATORS: dict[Kind, tuple[Any, ...]] = {
    "classes": ("svm", "nb", "logistic"),
    "numbers": ("ridge", "knn", "tree"),
    "survival": ("cox", ("cox", {"alpha": [1, 100]})),
}
#: The estimators that ignore the features; for survival, no order at all is known to
#: have concordance 0.5.
_BASELINES: dict[Kind, str] = {"classes": "majority", "numbers": "mean"}


@dataclass(frozen=True, eq=False)
class NamedPart:
    """A selector or an estimator, with the name that records show."""

    name: str
    made: Any


@dataclass(frozen=True)
class Place:
    """Where the predictions of a candidate are: a procedure, and one of its sizes."""

    procedure: int
    size: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """All candidates, as procedures that share rankings and fits.

    Parameters
    ----------
    selectors, estimators : tuple of NamedPart
        As read; the seeds are set.
    sizes : tuple of int
        Numbers of features, ascending; empty leaves the number to the selector.
    procedures : tuple of Procedure
        One per selector and estimator, then the baselines.
    owners : tuple of (int or None, int or None)
        Selector and estimator of every procedure; None without one.
    """

    selectors: tuple[NamedPart, ...]
    estimators: tuple[NamedPart, ...]
    sizes: tuple[int, ...]
    procedures: tuple[Procedure, ...]
    owners: tuple[tuple[int | None, int | None], ...]

    def places(self, done: Sequence[int]) -> list[Place]:
        """List the candidates of some procedures, those with few features first.

        Of equally good candidates the first wins.
        """
        found = [
            Place(p, k)
            for p in done
            for k in range(max(len(self.procedures[p].sizes), 1))
        ]
        return sorted(found, key=lambda one: (self._order(one), one.procedure))

    def _order(self, place: Place) -> float:
        # More features than any table has where the selector decides on their number.
        return self._size(place, np.inf, 1e18)

    def _size(self, place: Place, all_features: float, kept: float) -> float:
        """Return the number of features, given that of all and of those kept."""
        selector, estimator = self.owners[place.procedure]
        if estimator is None:
            return 0
        if selector is None:
            return all_features
        sizes = self.procedures[place.procedure].sizes
        return sizes[place.size] if sizes else kept

    def name(self, place: Place) -> tuple[str, str]:
        """Return the names of selector and estimator of a candidate."""
        selector, estimator = self.owners[place.procedure]
        if estimator is None:
            return NO_FEATURES, name_of(self.procedures[place.procedure].estimator)
        chosen = NO_SELECTION if selector is None else self.selectors[selector].name
        return chosen, self.estimators[estimator].name

    def n_features(self, place: Place, table: Table, n_kept: int | None) -> int:
        """Return the number of features of a candidate."""
        return int(self._size(place, table.n_features, n_kept or 0))

    def groups(self) -> list[list[int]]:
        """Return the procedures that are evaluated together: those of a selector.

        The baselines come first, because they take little time.
        """
        found: dict[int, list[int]] = {}
        for p, (selector, _) in enumerate(self.owners):
            found.setdefault(-1 if selector is None else selector, []).append(p)
        return [found[key] for key in sorted(found)]

    def pipeline(self, place: Place, table: Table) -> Pipeline:
        """Make the pipeline of a candidate, not fitted."""
        selector, estimator = self.owners[place.procedure]
        learner = clone(self.procedures[place.procedure].estimator)
        steps: list[tuple[str, Any]] = [("estimator", learner)]
        if table.is_sparse and isinstance(learner, PredictMany):
            steps.insert(
                0, ("dense", FunctionTransformer(as_dense, accept_sparse=True))
            )
        if selector is None or estimator is None:
            return Pipeline(steps)
        procedure = self.procedures[place.procedure]
        size = procedure.sizes[place.size] if procedure.sizes else None
        chosen = set_size(clone(procedure.selector, safe=False), size)
        if hasattr(table.source, "columns") and hasattr(chosen, "set_output"):
            chosen.set_output(transform="pandas")  # categories stay categories
        return Pipeline([("selector", chosen), *steps])


def read_candidates(
    selectors: Any,
    sizes: Any,
    estimators: Any,
    table: Table,
    scores: Sequence[Score],
    root: int,
    *,
    baselines: bool = True,
) -> Candidates:
    """Read what is to be tried; "auto" is replaced by what suits the table.

    Parameters
    ----------
    selectors, sizes, estimators : object
        As in `choose`.
    table : Table
        The samples.
    scores : sequence of Score
        What estimators must be able to answer; decides the default estimators.
    root : int
        Seed of selectors and estimators.
    baselines : bool
        Whether to add the candidates without selection, and without features.
    """
    read = _read_selectors(selectors, table, root)
    learners = _read_estimators(estimators, table.kind, scores, root)
    counts = _read_sizes(sizes, table)
    procedures: list[Procedure] = []
    owners: list[tuple[int | None, int | None]] = []
    for s, selector in enumerate(read):
        for e, learner in enumerate(learners):
            procedures.append(Procedure(learner.made, selector.made, counts))
            owners.append((s, e))
    if baselines:
        for e, learner in enumerate(learners):
            procedures.append(Procedure(learner.made))
            owners.append((None, e))
        if table.kind in _BASELINES:
            procedures.append(Procedure(make_estimator(_BASELINES[table.kind])))
            owners.append((None, None))
    return Candidates(read, learners, counts, tuple(procedures), tuple(owners))


# -- selectors -------------------------------------------------------------------------


def _read_selectors(given: Any, table: Table, root: int) -> tuple[NamedPart, ...]:
    if isinstance(given, str) and given == "auto":
        given = default_selectors(table)
    pairs = _name_all(given, "selectors", "a selector")
    found = []
    for name, one in pairs:
        made = read_selector(one)
        if not hasattr(made, "transform"):
            raise InputError(
                f"The selector {name} has no transform, so no pipeline can be made of "
                "it; use a selector with scikit-learn's fit and transform."
            )
        found.append(NamedPart(name, seeded(made, root)))
    return tuple(found)


def read_sparse(selectors: Any, estimators: Any) -> bool:
    """Return whether all candidates accept sparse data.

    With "auto" only selectors that do are tried. A name that is not known gives False
    here, and an error when the candidates are read.
    """
    chosen: list[Any] = []
    if not (isinstance(selectors, str) and selectors == "auto"):
        try:
            named = _name_all(selectors, "selectors", "a selector")
            chosen += [read_selector(one) for _, one in named]
        except InputError:
            return False
    chosen += [
        one for one in list_estimators(estimators) if not isinstance(one, PredictMany)
    ]
    return all(get_tags(one).input_tags.sparse for one in chosen)


def default_selectors(table: Table) -> list[str]:
    """Return a few good selectors that read the table in reasonable time."""
    n, p = table.n_samples, table.n_features
    able = []
    for name in _SELECTORS:
        kind = SELECTORS[name]
        power = kind._cost.power
        if power is not None and n**power * p > _LARGEST_COST:
            continue
        try:
            kind()._accept(table)
        except InputError:
            continue
        if name == "correlation" and "anova" in able:
            continue  # much the same order
        able.append(name)
    if not able:
        raise InputError(
            "None of the default selectors reads this table; name selectors that do, "
            "or impute missing values and encode categories first."
        )
    return able[:_N_SELECTORS]


def _name_all(given: Any, what: str, single: str) -> list[tuple[str, Any]]:
    """Return names and objects; equal names are numbered."""
    if isinstance(given, Mapping):
        pairs = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, str) or not isinstance(given, Iterable):
        pairs = [(name_of(given), given)]
    else:
        pairs = [(name_of(one), one) for one in given]
    if not pairs:
        raise InputError(f"{what} is empty; pass {single}, or several.")
    return _with_different_names(pairs)


def _with_different_names(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    counts: dict[str, int] = {}
    result = []
    for name, one in pairs:
        counts[name] = counts.get(name, 0) + 1
        again = counts[name]
        result.append((name if again == 1 else f"{name} ({again})", one))
    return result


# -- estimators ------------------------------------------------------------------------


def _read_estimators(
    given: Any, kind: Kind, scores: Sequence[Score], root: int
) -> tuple[NamedPart, ...]:
    if isinstance(given, str) and given == "auto":
        given = default_estimators(kind, scores)
    return tuple(
        NamedPart(name, seeded(made, root)) for name, made in _name_learners(given)
    )


def default_estimators(kind: Kind, scores: Sequence[Score]) -> dict[str, Any]:
    """Make a few estimators of a kind of target that give what the scores need."""
    able = [
        one
        for one in _ESTIMATORS[kind]
        if _gives_what_scores_need(_estimator_of(one), scores)
    ]
    return dict(_name_learners(able))


def list_estimators(given: Any) -> list[Any]:
    """Read the estimators that a user named; none for "auto"."""
    if isinstance(given, str) and given == "auto":
        return []
    return [made for _, made in _name_learners(given)]


def _name_learners(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        given = [given]  # one estimator with its grid
    if isinstance(given, Mapping):
        parts = [
            (str(name) + more, made)
            for name, one in given.items()
            for more, made in _expand(one)
        ]
    else:
        single = isinstance(given, str) or not isinstance(given, Iterable)
        parts = [
            (name_of(_estimator_of(one)) + more, made)
            for one in ([given] if single else given)
            for more, made in _expand(one)
        ]
    if not parts:
        raise InputError("estimators is empty; pass an estimator, or several.")
    return [(name, read_estimator(made)) for name, made in _with_different_names(parts)]


def _gives_what_scores_need(name: str, scores: Sequence[Score]) -> bool:
    """Return whether an estimator gives what the scores need."""
    estimator = make_estimator(name)
    try:
        for one in scores:
            one.response(estimator)
    except InputError:
        return False
    return True


def _estimator_of(given: Any) -> Any:
    """Return the estimator of a pair (estimator, grid), or the one of a search."""
    if isinstance(given, tuple) and len(given) == 2:
        return given[0]
    return given.estimator if hasattr(given, "param_grid") else given


def _expand(given: Any) -> list[tuple[str, Any]]:
    """Expand a parameter grid; every combination is a candidate of its own."""
    estimator, grid = _estimator_of(given), None
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InputError(
                f"A tuple in estimators must be (estimator, parameter grid), but it "
                f"has {len(given)} parts."
            )
        grid = given[1]
    elif hasattr(given, "param_grid"):
        grid = given.param_grid
    if grid is None:
        return [("", estimator)]
    made = read_estimator(estimator)
    known, inside = made.get_params(), "estimator__"
    # The parameters of a named estimator may be those of the one that it holds.
    places = {name.removeprefix(inside): name for name in known} | dict(
        zip(known, known, strict=True)
    )
    found = []
    try:
        combinations = list(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise InputError(f"The grid of {name_of(made)}: {error}") from error
    for values in combinations:
        absent = [name for name in values if name not in places]
        if absent:
            own = {name.removeprefix(inside): None for name in known}
            raise InputError(
                f"{name_of(made)} has no parameter {absent[0]!r}; its parameters are "
                f"{listed(own)}."
            )
        words = ", ".join(f"{name}={value}" for name, value in values.items())
        chosen = {places[name]: value for name, value in values.items()}
        found.append((f" ({words})" * bool(values), clone(made).set_params(**chosen)))
    return found


# -- sizes -----------------------------------------------------------------------------


def _read_sizes(given: Any, table: Table) -> tuple[int, ...]:
    p = table.n_features
    if given is None:
        return ()
    if isinstance(given, str):
        if given != "auto":
            raise InputError(
                f"sizes={given!r} is neither 'auto' nor numbers of features; pass, "
                "say, [5, 10, 20]."
            )
        most = min(p - 1, table.n_samples)
        return tuple(s for s in _SIZES if s <= most) or (1,)
    values = given if isinstance(given, Iterable) else [given]
    name = for_users("sizes", "--features")
    found = {count_features(one, p, name=name, strict=True) for one in values}
    if not found:
        raise InputError("sizes is empty; pass numbers of features, such as [5, 10].")
    return tuple(sorted(found))


def selected_on_folds(
    candidates: Candidates, place: Place, orders: Sequence[IntArray | None]
) -> list[IntArray]:
    """Return the features that a candidate selected on every split."""
    sizes = candidates.procedures[place.procedure].sizes
    most = sizes[place.size] if sizes else None
    return [order[:most] for order in orders if order is not None]
