"""Choose selector, number of features and estimator together, and score the choice.

Every candidate predicts the test samples of the same splits, with selection inside the
training sets. The candidates of a selector share its rankings, and are evaluated
together. What is known after each selector is kept, so that a search which is stopped
has an answer for the candidates that are done.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from veridical._core.advice import for_users
from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.interrupts import interrupt_event
from veridical._core.numbers import count
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressFunction, ProgressLike
from veridical._core.records import Interval
from veridical._core.repeating import repeatable
from veridical._core.scoring import Outputs, Score, read_scoring
from veridical._core.seeds import Purpose, as_generator, root_seed, stream
from veridical._core.splits import Split, describe_splits, split_table
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical._core.types import (
    BatchLike,
    CovariatesLike,
    CVLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    ScoringLike,
    WeightsLike,
)
from veridical._core.validation import check_count
from veridical.evaluation import notes
from veridical.evaluation.arguments import read_problem
from veridical.evaluation.bias_correction import (
    CorrectedInterval,
    PartScores,
    Resampled,
    RowScores,
    bootstrap_choice,
    draw_weights,
    find_hopeless,
    first_best,
    inflate_for_shared_training,
)
from veridical.evaluation.candidates import (
    Candidates,
    Place,
    list_estimators,
    read_candidates,
    selected_on_folds,
)
from veridical.evaluation.choice_coverage import (
    MeasuredChoice,
    coverage_of_choice,
    nearest_designs,
    say_bias,
)
from veridical.evaluation.choices import (
    Candidate,
    Choice,
    SearchCorrection,
    Signature,
    find_front,
)
from veridical.evaluation.engine import (
    Evaluation,
    Procedure,
    Ranked,
    count_jobs,
    evaluate_table,
    fit_selector,
    rank,
    scores_of,
)
from veridical.evaluation.estimating import describe_score
from veridical.evaluation.naming import read_cv
from veridical.evaluation.pooling import (
    Pooling,
    SplitPart,
    refuse_models,
    row_scores,
)
from veridical.evaluation.prediction_store import PredictionStore
from veridical.evaluation.records import SelectedFeature
from veridical.evaluation.signatures import find_stand_ins, replace_by_stand_ins
from veridical.evaluation.stability import stability
from veridical.evaluation.units import describe_weights
from veridical.learning.fitting import fit_own
from veridical.preparation.blocks import describe_blocks

#: What is said at the first Ctrl-C, where progress is reported.
_STOPPING = (
    "Stopping. The candidates that are done will be reported; Ctrl-C again stops at "
    "once."
)
#: Least number of samples tested before candidates are dropped.
_LEAST_TESTED = 20
#: Folds of the inner cross-validation where those of the outer one cannot serve.
_INNER_FOLDS = 5
#: Folds; with more, nested cross-validation has to be asked for.
_MOST_FOLDS = 20
#: Folds; with fewer, nothing is known from the measured designs, which have ten.
_LEAST_MEASURED_FOLDS = 5
#: Bootstrap draws, and those of a score that only scikit-learn computes.
_DRAWS, _FEW_DRAWS = 1000, 200
#: Least number of bootstrap draws that decide which candidates are dropped.
_DROPPING_DRAWS = 500


@repeatable
def choose(
    X: MatrixLike,
    y: LabelsLike,
    *,
    selectors: Any = "auto",
    sizes: Any = "auto",
    estimators: Any = "auto",
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    correction: Literal["auto", "bbc", "nested"] = "auto",
    inner_cv: CVLike | None = None,
    drop: float | None = None,
    baselines: bool = True,
    n_bootstrap: int | None = None,
    store: str | Path | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Choice:
    """Choose selector, number of features and estimator, and score the choice.

    The best cross-validated score of many candidates is too good, because the candidate
    was chosen by it [2]_. The score of the choice is corrected for that, by the
    bootstrap of the predictions [1]_ or by nested cross-validation.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target.
    selectors : str, selector, sequence or mapping of names to selectors, default="auto"
        Keys of ``veridical.selection.SELECTORS``, or any selectors with scikit-learn's
        ``fit`` and ``transform``. "auto" are three that read the table.
    sizes : int, float, sequence of them, "auto" or None, default="auto"
        Numbers of features, or shares of them. "auto" is 1, 2, 5, 10, … up to the
        number of samples. None leaves the number to each selector.
    estimators : str, estimator, sequence or mapping, default="auto"
        Names of ``veridical.learning.ESTIMATORS`` or scikit-learn estimators. A pair
        (estimator, parameter grid), or a ``GridSearchCV``, joins with every combination
        of its grid as a candidate. "auto" are three.
    scoring : str, callable, list or mapping of these, or None
        What counts; the first score decides. It is computed from the predictions of all
        folds together, which must be possible: a callable that needs the fitted model
        is refused. None is the default of the kind of target.
    cv : int, str, scikit-learn splitter, list of (train, test) or method, default=10
        How to split; every sample must be tested equally often.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together: never on both sides of a split, and drawn together
        by the bootstrap.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples, for selection, fits and scores: a sample of weight 3
        counts as three equal samples, but is drawn once.
    batch, covariates : optional
        What features are corrected for on every training set, as in
        `veridical.evaluation.estimate`. The pipeline of the answer is fitted on
        corrected features, and new samples have to be corrected first.
    correction : {"auto", "bbc", "nested"}, default="auto"
        "bbc" draws from the predictions and costs nearly nothing. It estimates the
        score of the best candidate on samples outside the draw that chose it. Models
        were trained on these samples, though, so with few samples and many candidates
        it is still too good. "nested" repeats the whole choice inside every training
        set, and estimates the score of this procedure; it takes about half as many
        times the work as there are folds. "auto" is "nested" where `cv` has 3 to 20
        folds, and "bbc" otherwise, or if `drop` is given.
    inner_cv : optional
        Splits of the training sets for "nested". By default the folds of `cv` serve:
        without fold i, the other folds are left out one by one, and the model without
        folds i and j serves both. Anything that `cv` takes draws new ones.
    drop : float, optional
        Drop hopeless candidates after each fold (BBCD), so that the truly best one is
        kept with this probability, such as 0.99. By default none is dropped. No
        candidate is complete before the last fold, so that Ctrl-C leaves no answer.
    baselines : bool, default=True
        Whether to add every estimator without selection, and the estimator that ignores
        the features.
    n_bootstrap : int, optional
        Number of bootstrap draws; by default 1000, or 200 for a score that only
        scikit-learn computes, which takes long.
    store : str or Path, optional
        A file to keep the predictions in; the same call goes on from there. Those of
        selectors and estimators that cannot be pickled, such as one with a lambda, are
        computed again.
    random_state : int, numpy random generator or None
        Decides folds and draws, and is the seed of selectors and estimators.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    name : str, optional
        Name of the data.
    progress : callable or bool, optional
        Called as ``progress(done, total)``. By default, work that takes more than two
        seconds reports on standard error; False is silent.

    Returns
    -------
    Choice
        The winner, its corrected score, all candidates, and the fitted pipeline. After
        Ctrl-C it holds the selectors that were done, and says so.

    Raises
    ------
    InputError
        For data or parameters that do not allow a valid result.

    See Also
    --------
    veridical.evaluation.SelectionSearchCV : The same as an estimator.
    veridical.select : One selector and one estimator.

    Notes
    -----
    Of equally good candidates the one with fewer features wins, then the first.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the
       out-of-sample predictions for efficient and accurate cross-validation", Machine
       Learning 107, 2018.
    .. [2] S. Varma and R. Simon, "Bias in error estimation when using cross-validation
       for model selection", BMC Bioinformatics 7, 2006.

    Examples
    --------
    The best of 15 candidates on labels without any signal:

    >>> import numpy as np
    >>> from veridical import choose
    >>> rng = np.random.default_rng(5)
    >>> X, y = rng.normal(size=(60, 500)), np.repeat(["a", "b"], 30)
    >>> found = choose(X, y, selectors=["anova", "mrmr"], sizes=[1, 5, 20],
    ...                estimators=["nb", "1nn"], random_state=0)
    >>> round(found.naive_score, 2), round(found.score, 2), len(found.candidates)
    (0.62, 0.48, 15)
    """
    table = read_problem(
        list_estimators(estimators),
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        batch=batch,
        covariates=covariates,
        name=name,
    )
    search = Search(
        selectors=selectors,
        sizes=sizes,
        estimators=estimators,
        scoring=scoring,
        cv=cv,
        correction=correction,
        inner_cv=inner_cv,
        drop=drop,
        baselines=baselines,
        n_bootstrap=n_bootstrap,
        store=store,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        name=name,
    )
    with interrupt_event("" if progress is None else _STOPPING) as stop:
        return search.run(table, stop)


@dataclass(frozen=True, eq=False)
class Search:
    """The parameters of a search; see `choose`.

    Parameters
    ----------
    selectors, sizes, estimators, scoring, cv, correction, inner_cv, drop, baselines,
    n_bootstrap, store, random_state, n_jobs, progress, name
        As in `choose`.
    """

    selectors: Any = "auto"
    sizes: Any = "auto"
    estimators: Any = "auto"
    scoring: Any = None
    cv: Any = 10
    correction: Literal["auto", "bbc", "nested"] = "auto"
    inner_cv: Any = None
    drop: float | None = None
    baselines: bool = True
    n_bootstrap: int | None = None
    store: str | Path | None = None
    random_state: Any = None
    n_jobs: int | None = None
    progress: Any = None
    name: str | None = None

    def check(self) -> None:
        """Raise if a parameter is not possible."""
        if self.n_bootstrap is not None:
            check_count("n_bootstrap", self.n_bootstrap, 2)
        if self.correction not in ("auto", "bbc", "nested"):
            raise InputError(
                f"correction={self.correction!r} must be 'auto', 'bbc' or 'nested'."
            )
        if self.inner_cv is not None and self.correction == "bbc":
            raise InputError(
                "inner_cv is for correction='nested'; leave it out, or use 'nested'."
            )
        if self.drop is None:
            return
        if not 0.5 < self.drop < 1:
            raise InputError(
                f"{for_users('drop=', '--drop-hopeless ')}{self.drop!r} must be a "
                "probability above 0.5 and below 1, such as 0.99."
            )
        nested = self.correction == "nested" or self.inner_cv is not None
        if self.store is not None or nested:
            what = for_users("store", "--store")
            if nested:
                what = for_users("correction='nested'", "--correction nested")
            raise InputError(
                f"{for_users('drop', '--drop-hopeless')} evaluates candidates fold by "
                f"fold, which {what} does not allow; leave one of them out."
            )

    def decide(self, splits: Sequence[Split], pooling: Pooling) -> SearchCorrection:
        """Decide between "bbc" and "nested" where nobody did."""
        if self.correction != "auto":
            return self.correction
        if self.drop is not None:
            return "bbc"
        if self.inner_cv is not None:
            return "nested"
        few = len(splits) <= _MOST_FOLDS * pooling.n_layers
        return "nested" if few and _repeats(splits, pooling) else "bbc"

    def run(self, table: Table, stop: threading.Event) -> Choice:
        """Evaluate all candidates, choose, and correct the score.

        Parameters
        ----------
        table : Table
            The samples.
        stop : Event
            Once it is set, no further selector is evaluated.
        """
        self.check()
        root = root_seed(self.random_state)
        scores = read_scoring(self.scoring, table.target)
        refuse_models(scores)
        method = read_cv(self.cv, table.n_samples, table.kind)
        splits = split_table(method, table, root)
        _refuse_tested_in_training(splits)
        notes.refuse_training_of_one_class(table, splits)
        remarks = notes.warn_of_splits(
            method, table, splits, is_accuracy=scores[0].is_accuracy, stacklevel=5
        )
        remarks += notes.on_method(method)
        remarks += notes.on_two_numbers(table)
        pooling = Pooling.from_splits(splits, table.n_samples)
        candidates = read_candidates(
            self.selectors,
            self.sizes,
            self.estimators,
            table,
            scores,
            root,
            baselines=self.baselines,
        )
        nested = None
        correction = self.decide(splits, pooling)
        if correction == "nested":
            nested = Nested.plan(self.inner_cv, table, splits, pooling, root)
        if table.blocks is not None:
            remarks.append(
                "The fitted pipeline expects corrected features: correct new samples "
                "for batch and covariates first, as here, by ComBat and Residualize."
            )
        run = Workers(self.n_jobs, self.progress)
        work = _Work(candidates, table, splits, scores, run, pooling, stop)
        if nested is not None:
            work.splits = [*splits, *nested.splits]
        if self.drop is not None:
            work.evaluate_and_drop(self.drop, root)
        elif self.store is not None:
            with PredictionStore(self.store, table, work.splits, root) as kept:
                work.evaluate(kept)
        else:
            work.evaluate(None)
        n_bootstrap = self.n_bootstrap
        if n_bootstrap is None:
            n_bootstrap = _DRAWS if scores[0].compute is not None else _FEW_DRAWS
        settings = {
            "selectors": tuple(one_line(one.made) for one in candidates.selectors),
            "estimators": tuple(one_line(one.made) for one in candidates.estimators),
            "sizes": tuple(candidates.sizes) or "what selectors keep",
            "cross-validation": describe_splits(method, table),
            "scoring": tuple(one.label for one in scores),
            "correction": self._describe_correction(nested, n_bootstrap),
            **describe_weights(table),
            **describe_blocks(table),
            "random_state": root,
            "table sha256": table.sha256(),
        }
        return _Decision(work, root, n_bootstrap, correction, nested).record(
            table.summary(self.name), (*remarks, *work.notes), settings
        )

    def _describe_correction(self, nested: Nested | None, n_draws: int) -> str:
        if nested is None:
            dropped = "" if self.drop is None else f", dropping at {self.drop:g}"
            return f"bootstrap of the predictions, {n_draws} draws{dropped}"
        return f"nested cross-validation; {nested.words}"


# -- the predictions of all candidates -------------------------------------------------


class _SearchStopped(Exception):
    """The search was stopped while a selector was evaluated."""


@dataclass(eq=False)
class _Work:
    """Evaluates the procedures, and keeps what is done."""

    candidates: Candidates
    table: Table
    splits: Sequence[Split]
    scores: Sequence[Score]
    run: Workers
    pooling: Pooling
    stop: threading.Event
    done: dict[int, Evaluation] = field(default_factory=dict)
    dropped: dict[Place, int] = field(default_factory=dict)
    stopped_before: int = 0  # candidates that were not evaluated
    notes: list[str] = field(default_factory=list)

    def evaluate(self, store: PredictionStore | None) -> None:
        """Evaluate all procedures, selector by selector."""
        groups = self.candidates.groups()
        baselines = [p for p, (s, _) in enumerate(self.candidates.owners) if s is None]
        together = [group for group in groups if group != baselines]
        self.run.total = sum(map(self._n_jobs, [*([p] for p in baselines), *together]))
        self.run.progress = self._watched(self.run.progress)
        for p in baselines:
            self._evaluate_baseline(p, store)
        for group in together:
            try:
                if self.stop.is_set() and self._has_selection():
                    raise _SearchStopped
                self._evaluate(group, store)
            except _SearchStopped:
                self.stopped_before += len(self.candidates.places(group))
        if self.stop.is_set() and not self._has_selection():
            raise KeyboardInterrupt
        if self.stopped_before:
            self.notes.append(
                f"The search was stopped: {count(self.stopped_before, 'candidate')} "
                "of the plan were not evaluated, and nothing is known about them."
            )

    def _watched(self, progress: ProgressFunction | None) -> ProgressFunction | None:
        """Wrap a progress function, so that a search can be stopped after every job.

        Without progress, jobs are as large as possible, and nothing is called.
        """
        if progress is None:
            return None

        def tell(done: int, total: int) -> None:
            progress(done, total)
            if self.stop.is_set() and self._has_selection():
                raise _SearchStopped

        return tell

    def _has_selection(self) -> bool:
        return any(self.candidates.owners[p][0] is not None for p in self.done)

    def _n_jobs(self, group: Sequence[int]) -> int:
        chosen = [self.candidates.procedures[p] for p in group]
        return count_jobs(chosen, self.splits, self.run)

    def _evaluate(self, group: Sequence[int], store: PredictionStore | None) -> None:
        procedures = {p: self._asked(p) for p in group}
        if store is not None:
            for p, one in list(procedures.items()):
                found = store.load(one)
                if found is not None:
                    self.done[p] = found
                    del procedures[p]
        if not procedures:
            return
        evaluations = evaluate_table(
            list(procedures.values()),
            self.table,
            self.splits,
            run=self.run,
            scores=self._needing_more(),
        )
        for (p, one), found in zip(procedures.items(), evaluations, strict=True):
            self.done[p] = found
            if store is not None:
                store.save(one, found)

    def _needing_more(self) -> list[Score]:
        return [one for one in self.scores if not one.is_accuracy]

    def _asked(self, p: int) -> Procedure:
        """Add the responses that scores need; they are part of the key of a store."""
        one = self.candidates.procedures[p]
        wanted = {s.response(one.estimator): None for s in self._needing_more()}
        wanted.pop(None, None)
        return replace(one, responses=tuple(str(method) for method in wanted))

    def _evaluate_baseline(self, p: int, store: PredictionStore | None) -> None:
        """Evaluate a baseline; an estimator that cannot use all features has none."""
        try:
            self._evaluate([p], store)
        except Exception as error:
            _, estimator = self.candidates.owners[p]
            if estimator is None and not self._needing_more():
                raise
            said = " ".join(str(error).split())[:200]
            selector_name, name = self.candidates.name(Place(p, 0))
            self.notes.append(
                f"The baseline {name} with {selector_name} is missing: {said}"
            )

    def evaluate_and_drop(self, level: float, root: int) -> None:
        """Evaluate fold by fold; drop candidates that are not the best.

        Rankings are computed for all folds at once. A candidate that was dropped is not
        fitted again.
        """
        rng = as_generator(stream(root, Purpose.CHOICE, 1))
        every = range(len(self.candidates.procedures))
        orders = self._rank_all()
        alive = {p: list(range(max(len(self._sizes(p)), 1))) for p in every}
        parts: dict[int, list[Any]] = {p: [] for p in every}
        self.run.total = self.run.done + len(self.splits)
        for s, split in enumerate(self.splits):
            if self.stop.is_set():
                raise KeyboardInterrupt
            asked = [p for p in every if alive[p]]
            procedures = [self._on_fold(p, s, alive[p], orders) for p in asked]
            found = evaluate_table(
                procedures,
                self.table,
                [split],
                run=Workers(self.run.n_jobs),
                scores=self._needing_more(),
            )
            for p, one in zip(asked, found, strict=True):
                parts[p].append(_put_back(one, alive[p], len(self._sizes(p)) or 1))
            self.run.done += 1
            if self.run.progress is not None:
                self.run.progress(self.run.done, self.run.total)
            if s + 1 < len(self.splits):
                self._drop(s + 1, level, alive, parts, orders, rng)
        for p in every:
            self.done[p] = self._joined(p, parts[p], orders)

    def _sizes(self, p: int) -> tuple[int, ...]:
        return self.candidates.procedures[p].sizes

    def _rank_all(self) -> dict[int, list[Ranked]]:
        trains = [split.train for split in self.splits]
        ranked: dict[int, list[Ranked]] = {}
        most = self.candidates.sizes[-1] if self.candidates.sizes else None
        found = self.run.here(
            [
                (rank, (one.made, self.table, trains, most))
                for one in self.candidates.selectors
            ]
        )
        for p, (selector, _) in enumerate(self.candidates.owners):
            if selector is not None:
                ranked[p] = found[selector]
        return ranked

    def _on_fold(
        self, p: int, s: int, alive: Sequence[int], orders: dict[int, list[Ranked]]
    ) -> Procedure:
        one = self._asked(p)
        if p not in orders:
            return one
        sizes = tuple(one.sizes[k] for k in alive) if one.sizes else ()
        return replace(one, selector=None, sizes=sizes, orders=[orders[p][s].order])

    def _joined(
        self, p: int, parts: list[Any], orders: dict[int, list[Ranked]]
    ) -> Evaluation:
        """Join the folds of a procedure; a fold that it did not see repeats the last.

        What is repeated is never scored.
        """
        one = self._asked(p)
        outputs = []
        for s, split in enumerate(self.splits):
            if s < len(parts):
                outputs.append(parts[s])
                continue
            shape = parts[-1]
            outputs.append(
                Outputs(
                    *(
                        None
                        if part is None
                        else np.zeros(
                            (len(part), len(split.test), *part.shape[2:]), part.dtype
                        )
                        for part in shape
                    )
                )
            )
        rankings: list[Any] = [None] * len(self.splits)
        if p in orders:
            rankings = list(orders[p])
        return Evaluation.from_outputs(self.table, self.splits, one, outputs, rankings)

    def _drop(
        self,
        n_done: int,
        level: float,
        alive: dict[int, list[int]],
        parts: dict[int, list[Any]],
        orders: dict[int, list[Ranked]],
        rng: np.random.Generator,
    ) -> None:
        tested = [
            SplitPart(s, split.test) for s, split in enumerate(self.splits[:n_done])
        ]
        rows = np.concatenate([part.rows for part in tested])
        if len(np.unique(rows)) < len(rows):  # a repeat has begun
            return
        if len(rows) < _LEAST_TESTED:
            return
        pooling = Pooling.from_parts(tested, self.table.n_samples)
        places = [Place(p, k) for p, some in alive.items() for k in some]
        found = {p: self._joined(p, parts[p], orders) for p, some in alive.items()}
        scores = self.row_scores(self.scores[0], places, pooling, found)
        units = units_of(self.table, pooling.rows)
        error = (1.0 - level) / (len(self.splits) - 1)  # over all folds
        n_draws = max(_DROPPING_DRAWS, math.ceil(1.0 / error))
        hopeless = find_hopeless(scores, units, error, n_draws, rng)
        for place, is_hopeless in zip(places, hopeless, strict=True):
            if is_hopeless:
                alive[place.procedure].remove(place.size)
                self.dropped[place] = n_done

    def row_scores(
        self,
        score: Score,
        places: Sequence[Place],
        pooling: Pooling,
        found: dict[int, Evaluation] | None = None,
    ) -> Any:
        """Make the scores of candidates on any samples of some splits."""
        known = self.done if found is None else found
        gathered = {p: pooling.gather(known[p]) for p in {o.procedure for o in places}}
        return row_scores(
            score,
            [gathered[one.procedure].at(one.size) for one in places],
            [self.candidates.procedures[one.procedure].estimator for one in places],
            pooling.rows,
            self.table,
        )


def _put_back(found: Evaluation, alive: Sequence[int], n_sizes: int) -> Outputs:
    """Put the sizes that were evaluated back into their places among all."""
    (outputs,) = found.all_outputs
    parts: list[Any] = []
    for part in outputs:
        if part is None:
            parts.append(None)
            continue
        whole = np.zeros((n_sizes, *part.shape[1:]), dtype=part.dtype)
        whole[list(alive)] = part
        parts.append(whole)
    return Outputs(*parts)


def units_of(table: Table, rows: IntArray) -> IntArray:
    """Return what the bootstrap draws: the group of every sample, or the sample."""
    if table.groups is None:
        return np.arange(len(rows))
    return np.unique(table.groups[rows], return_inverse=True)[1].astype(np.intp)


# -- nested cross-validation -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Nested:
    """The inner splits of nested cross-validation.

    Parameters
    ----------
    splits : list of Split
        All inner splits.
    inner : list of list of SplitPart
        For every outer split, the test samples of its inner splits; the numbers of
        splits count from the outer ones on.
    words : str
        How the inner splits were made.
    """

    splits: list[Split]
    inner: list[list[SplitPart]]
    words: str

    @classmethod
    def plan(
        cls,
        inner_cv: Any,
        table: Table,
        splits: Sequence[Split],
        pooling: Pooling,
        root: int,
    ) -> Nested:
        """Plan the inner splits; the outer folds serve where they can."""
        repeats = _repeats(splits, pooling)
        if inner_cv is None and repeats is not None:
            return cls._of_outer_folds(splits, repeats)
        return cls._of_new_folds(
            _INNER_FOLDS if inner_cv is None else inner_cv, table, splits, root
        )

    @classmethod
    def _of_outer_folds(
        cls, splits: Sequence[Split], repeats: list[list[int]]
    ) -> Nested:
        """Leave two outer folds out at a time; the model serves both."""
        n_outer, made = len(splits), list[Split]()
        inner: list[list[SplitPart]] = [[] for _ in splits]
        for folds in repeats:
            for a, i in enumerate(folds):
                for j in folds[a + 1 :]:
                    first, second = splits[i].test, splits[j].test
                    number = n_outer + len(made)
                    both = np.concatenate([first, second])
                    made.append(Split(both, splits[i].n_rows))
                    end = len(first)
                    inner[j].append(SplitPart(number, first, slice(0, end)))
                    inner[i].append(SplitPart(number, second, slice(end, None)))
        words = "inner folds are the other outer folds"
        return cls(made, inner, words)

    @classmethod
    def _of_new_folds(
        cls, inner_cv: Any, table: Table, splits: Sequence[Split], root: int
    ) -> Nested:
        """Split every outer training set anew."""
        made: list[Split] = []
        inner: list[list[SplitPart]] = []
        words = ""
        for s, split in enumerate(splits):
            rows = np.unique(split.train)
            method = read_cv(inner_cv, len(rows), table.kind)
            words = f"inner splits: {describe_splits(method)}"
            seed = int(stream(root, Purpose.INNER_FOLDS, s).generate_state(1)[0])
            parts = []
            for one in split_table(method, table.rows(rows), seed):
                parts.append(SplitPart(len(splits) + len(made), rows[one.test]))
                made.append(
                    Split(rows[one.test], table.n_samples, np.sort(rows[one.train]))
                )
            notes.refuse_training_of_one_class(table, made[-len(parts) :])
            inner.append(parts)
        return cls(made, inner, words)


def _refuse_tested_in_training(splits: Sequence[Split]) -> None:
    """Raise if models are tested on samples that they were trained on."""
    if any(not one.leaves_out and np.isin(one.test, one.train).any() for one in splits):
        raise InputError(
            "Some samples are tested by models that were trained on them. The score of "
            "a choice would say nothing about new samples then; use folds, such as "
            f"{for_users('cv=10', '--cv 10')}."
        )


def _repeats(splits: Sequence[Split], pooling: Pooling) -> list[list[int]] | None:
    """Group splits into complete cross-validations; None if they are none."""
    if not all(split.leaves_out for split in splits):
        return None
    repeats: list[list[int]] = [[] for _ in range(pooling.n_layers)]
    for s, layers in enumerate(pooling.layers):
        if np.ptp(layers):
            return None
        repeats[int(layers[0])].append(s)
    whole = all(
        sum(len(splits[s].test) for s in folds) == splits[0].n_rows and len(folds) > 2
        for folds in repeats
    )
    return repeats if whole else None


# -- the answer ------------------------------------------------------------------------


@dataclass(eq=False)
class _Decision:
    """Chooses the winner, corrects its score, and describes all candidates."""

    work: _Work
    root: int
    n_bootstrap: int
    correction: SearchCorrection
    nested: Nested | None

    def record(
        self, data: Any, remarks: tuple[str, ...], settings: dict[str, Any]
    ) -> Choice:
        """Make the record."""
        work, table = self.work, self.work.table
        score = work.scores[0]
        everyone = work.candidates.places(sorted(work.done))
        places = [one for one in everyone if one not in work.dropped]
        units = units_of(table, work.pooling.rows)
        rows = work.row_scores(score, places, work.pooling)
        rng = as_generator(stream(self.root, Purpose.CHOICE))
        drawn = bootstrap_choice(rows, units, self.n_bootstrap, rng)
        self._check(drawn, score)
        best = places[drawn.best]
        found = self._describe(places, drawn, score)
        found += self._describe_dropped(score)
        n_units = int(units.max()) + 1
        info = describe_score(score, table, "pooled")
        low, high = info.low, info.high
        if not score.greater_is_better:
            low, high = -high, -low
        own = CorrectedInterval(
            drawn.estimate,
            drawn.standard_error,
            n_units,
            low,
            high,
            drawn.outside,
            float(drawn.naive[drawn.best]),
            self._shared(),
        )
        value, by_bbc = drawn.estimate, None
        winners: list[Place] = [best] * len(work.pooling.parts)
        if self.nested is not None:
            winners = self._choose_inside(places, score)
            by_bbc = _signed(Interval(own.value, *own.interval()), score.sign)
            outside = self._scores_outside(
                winners, score, [[one] for one in work.pooling.parts]
            )
            everything = np.ones((1, len(units)))
            value = float(outside.score(everything, [0])[0, 0])
            if isinstance(outside, PartScores):
                folds = outside.score_parts(everything, [0]).ravel()
                own = own.for_scores_of_folds(value, folds, self._test_share())
            else:
                rng = as_generator(stream(self.root, Purpose.CHOICE, 3))
                drawn_outside = outside.score(
                    draw_weights(units, self.n_bootstrap, rng), [0]
                )
                error = float(np.nanstd(drawn_outside, ddof=1))
                own = replace(own, value=value).at_least(error, value)
        near = self._nearest_designs(score, len(found))
        said = say_bias(near, self.correction, info)
        features = self._features(best)
        everyone_there = np.arange(table.n_samples)
        stand_ins = find_stand_ins(
            table.corrected(everyone_there), np.array([f.index for f in features], int)
        )
        if table.n_features == len(features):
            stand_ins = ()
        return Choice(
            data=data,
            correction=self.correction,
            score=score.sign * value,
            naive_score=score.sign * float(drawn.naive[drawn.best]),
            found=tuple(found),
            corrected=own.flipped() if score.sign < 0 else own,
            estimator_=fit_own(
                work.candidates.pipeline(best, table),
                table.corrected(everyone_there),
            ),
            features=features,
            stand_ins=stand_ins,
            signature=self._signature(best, score, drawn) if stand_ins else None,
            n_folds=len(work.pooling.parts),
            n_test=len(work.pooling.rows),
            n_units=n_units,
            n_bootstrap=len(drawn.outside),
            scoring=info,
            other_scores=self._other_scores(best, units),
            n_planned=len(found) + work.stopped_before,
            by_bbc=by_bbc,
            fold_winners=tuple(map(self._label, winners)) if self.nested else (),
            predictions=self._predictions(winners),
            coverage=coverage_of_choice(near, self.correction),
            notes=(*remarks, said) if said else remarks,
            settings=settings,
        )

    def _nearest_designs(
        self, score: Score, n_candidates: int
    ) -> Sequence[MeasuredChoice]:
        """Look up what was measured in designs like this one, by about ten folds."""
        work = self.work
        outer = work.splits[: len(work.pooling.parts)]
        folds = _repeats(outer, work.pooling) or [[]]
        if not all(_LEAST_MEASURED_FOLDS <= len(own) <= _MOST_FOLDS for own in folds):
            return ()
        return nearest_designs(
            work.table.kind,
            score.name,
            len(work.pooling.rows),
            n_candidates,
            grouped=work.table.groups is not None,
        )

    def _check(self, drawn: Resampled, score: Score) -> None:
        if np.isnan(drawn.naive).all() or not len(drawn.outside):
            raise InputError(
                f"The {score.label} is not defined on these samples, or on too few of "
                "their bootstrap draws; use more samples, or another scoring."
            )

    def _describe(
        self, places: Sequence[Place], drawn: Resampled, score: Score
    ) -> list[Candidate]:
        work = self.work
        pvalues, wins, errors = drawn.pvalues(), drawn.wins, drawn.standard_errors
        limit = drawn.naive[drawn.best] - errors[drawn.best]
        # The estimators of a selector get the same features.
        chosen = [(work.candidates.owners[o.procedure][0], o.size) for o in places]
        sets = {
            key: self._sets(one)
            for key, one in dict(zip(chosen, places, strict=True)).items()
        }
        known = {key: self._stability(own) for key, own in sets.items()}
        agreed = [known[key] for key in chosen]
        kept = {
            key: int(np.median([len(s) for s in own])) if own else None
            for key, own in sets.items()
        }
        sizes = [
            work.candidates.n_features(one, work.table, kept[key])
            for one, key in zip(places, chosen, strict=True)
        ]
        # Without selection nothing can vary.
        stabilities = np.array([1.0 if one is None else one for one in agreed])
        front = find_front(sizes, drawn.naive, stabilities)
        bounds = np.nanquantile(drawn.drawn, [0.025, 0.975], axis=0)
        found = []
        for c, place in enumerate(places):
            selector, estimator = work.candidates.name(place)
            own = Interval(float(drawn.naive[c]), *(float(b) for b in bounds[:, c]))
            found.append(
                Candidate(
                    selector=selector,
                    estimator=estimator,
                    n_features=sizes[c],
                    score=_signed(own, score.sign),
                    standard_error=float(errors[c]),
                    pvalue=float(pvalues[c]),
                    within_one_se=bool(drawn.naive[c] >= limit),
                    wins=float(wins[c]),
                    stability=agreed[c],
                    on_front=front[c],
                    is_baseline=work.candidates.owners[place.procedure][0] is None,
                )
            )
        # Stable: of equal scores the first place, which is the winner's, stays first.
        order = np.argsort(-np.nan_to_num(drawn.naive, nan=-np.inf), kind="stable")
        first = [drawn.best, *(c for c in order.tolist() if c != drawn.best)]
        return [found[c] for c in first]

    def _describe_dropped(self, score: Score) -> list[Candidate]:
        """Describe candidates that were dropped, by the folds that they saw."""
        work, found = self.work, []
        for place, n_done in work.dropped.items():
            parts = [
                SplitPart(s, split.test) for s, split in enumerate(work.splits[:n_done])
            ]
            pooling = Pooling.from_parts(parts, work.table.n_samples)
            rows = work.row_scores(score, [place], pooling)
            value = float(rows.score(np.ones((1, len(pooling.rows))), [0])[0, 0])
            selector, estimator = work.candidates.name(place)
            found.append(
                Candidate(
                    selector=selector,
                    estimator=estimator,
                    n_features=work.candidates.n_features(place, work.table, None),
                    score=Interval(score.sign * value, math.nan, math.nan),
                    standard_error=math.nan,
                    pvalue=0.0,
                    within_one_se=False,
                    wins=0.0,
                    is_baseline=work.candidates.owners[place.procedure][0] is None,
                    dropped_after=n_done,
                )
            )
        return sorted(found, key=lambda one: -score.sign * one.score.value)

    def _sets(self, place: Place) -> list[IntArray]:
        """Return the features that a candidate selected on every outer split."""
        ranked = self.work.done[place.procedure].rankings
        outer = ranked[: len(self.work.pooling.parts)]
        orders = [None if one is None else one.order for one in outer]
        return selected_on_folds(self.work.candidates, place, orders)

    def _stability(self, sets: list[IntArray]) -> float | None:
        if len(sets) < 2:
            return None
        found = stability(sets, self.work.table.n_features, independent=False)
        return float(found.value)

    def _features(self, best: Place) -> tuple[SelectedFeature, ...]:
        """Select on all samples; count the folds that selected each feature."""
        work, table = self.work, self.work.table
        procedure = work.candidates.procedures[best.procedure]
        if procedure.selector is None:
            return ()
        size = procedure.sizes[best.size] if procedure.sizes else None
        everyone = np.arange(table.n_samples)
        fitted, ranked = fit_selector(procedure.selector, table, everyone, size)
        times = np.zeros(table.n_features, dtype=np.intp)
        for own in self._sets(best):
            times[own] += 1
        scores = scores_of(fitted, table)
        return SelectedFeature.from_arrays(
            ranked.order, table.feature_names, scores, times
        )

    def _signature(
        self, best: Place, score: Score, drawn: Resampled
    ) -> Signature | None:
        """Score the winner with stand-ins in place of its features."""
        work, table = self.work, self.work.table
        n_outer = len(work.pooling.parts)
        sets = self._sets(best)
        if len(sets) < n_outer:
            return None
        splits = list(work.splits[:n_outer])
        trains = [split.train for split in splits]
        orders, n_replaced = replace_by_stand_ins(table, trains, sets)
        if not n_replaced:
            return None
        size = min(len(order) for order in orders)
        procedure = Procedure(
            work.candidates.procedures[best.procedure].estimator,
            sizes=(size,),
            orders=orders,
        )
        needing = [score] if not score.is_accuracy else []
        (found,) = evaluate_table(
            [procedure], table, splits, run=Workers(work.run.n_jobs), scores=needing
        )
        gathered = work.pooling.gather(found)
        rows = row_scores(
            score, [gathered.at(0)], [procedure.estimator], work.pooling.rows, table
        )
        value = float(rows.score(np.ones((1, len(work.pooling.rows))), [0])[0, 0])
        error = drawn.standard_errors[drawn.best]
        equivalent = bool(value >= drawn.naive[drawn.best] - error)
        return Signature(n_replaced, score.sign * value, equivalent)

    def _other_scores(self, best: Place, units: IntArray) -> dict[str, Interval]:
        """Compute further scores of the winner, with bootstrap percentiles."""
        work = self.work
        found = {}
        for score in work.scores[1:]:
            rows = work.row_scores(score, [best], work.pooling)
            rng = as_generator(stream(self.root, Purpose.CHOICE, 2))
            weights = draw_weights(units, self.n_bootstrap, rng)
            value = float(rows.score(np.ones((1, len(units))), [0])[0, 0])
            low, high = np.nanquantile(rows.score(weights, [0])[:, 0], [0.025, 0.975])
            own = Interval(value, float(low), float(high))
            found[score.name] = _signed(own, score.sign)
        return found

    def _choose_inside(self, places: Sequence[Place], score: Score) -> list[Place]:
        """Choose the best candidate inside every outer training set."""
        assert self.nested is not None
        work, winners = self.work, []
        for inner in self.nested.inner:
            pooling = Pooling.from_parts(inner, work.table.n_samples)
            rows = work.row_scores(score, places, pooling)
            inside = rows.score(np.ones((1, len(pooling.rows))), range(len(places)))
            winners.append(places[int(first_best(inside)[0])])
        return winners

    def _scores_outside(
        self,
        winners: Sequence[Place],
        score: Score,
        sources: Sequence[Sequence[SplitPart]],
    ) -> RowScores:
        """Make the score of the winners of all outer splits, as that of one candidate.

        It is computed from all predictions together or, where those of different
        estimators may not be pooled, is the mean of the scores of the splits.

        Parameters
        ----------
        winners : sequence of Place
            The winner of every outer split.
        score : Score
            The score.
        sources : sequence of sequence of SplitPart
            For every outer split the predictions of its test samples; as many for each.
        """
        work, table, pooling = self.work, self.work.table, self.work.pooling
        learners = [work.candidates.procedures[o.procedure].estimator for o in winners]
        if _is_comparable(score, table):
            outputs = self._outputs(winners, sources)
            return row_scores(score, [outputs], learners[:1], pooling.rows, table)
        parts = []
        for place, learner, own in zip(winners, learners, sources, strict=True):
            found = work.done[place.procedure].all_outputs
            layers = [_take_samples(found[p.split].at(place.size), p) for p in own]
            joined = zip(*layers, strict=True)
            made = (None if one[0] is None else np.stack(one) for one in joined)
            rows = own[0].rows
            parts.append(row_scores(score, [Outputs(*made)], [learner], rows, table))
        return PartScores(tuple(parts), pooling.columns)

    def _shared(self) -> float:
        """Return how much larger than of independent predictions errors are."""
        return inflate_for_shared_training(self.work.table.n_samples, self._n_train())

    def _n_train(self) -> float:
        """Return the mean number of samples that a model was trained on."""
        outer = self.work.splits[: len(self.work.pooling.parts)]
        return float(np.mean([len(np.unique(split.train)) for split in outer]))

    def _test_share(self) -> float:
        """Return the mean size of a test set over that of a training set."""
        n_test = np.mean([len(part.rows) for part in self.work.pooling.parts])
        return float(n_test / self._n_train())

    def _outputs(
        self, winners: Sequence[Place], sources: Sequence[Sequence[SplitPart]]
    ) -> Outputs:
        """Put predictions of the winner of every split into layers."""
        work, n_each = self.work, len(sources[0])
        shape = (work.pooling.n_layers * n_each, work.pooling.rows.size)
        wholes: tuple[list[Any], ...] = [], []  # classes or numbers, probabilities
        for s, (place, own) in enumerate(zip(winners, sources, strict=True)):
            found = work.done[place.procedure].all_outputs
            for k, part in enumerate(own):
                outputs = _take_samples(found[part.split].at(place.size), part)
                layers = work.pooling.layers[s] * n_each + k
                for whole, given in zip(wholes, outputs[:2], strict=True):
                    whole.append((layers, work.pooling.columns[s], given))
        return Outputs(*(_join_pieces(shape, whole) for whole in wholes))

    def _predictions(self, winners: Sequence[Place]) -> Any:
        """Return the predictions of the winner of every split, as labels."""
        table = self.work.table
        codes = self._outputs(winners, [[one] for one in self.work.pooling.parts]).codes
        return table.classes[codes] if table.kind == "classes" else codes

    def _label(self, place: Place) -> str:
        candidates = self.work.candidates
        selector, estimator = candidates.name(place)
        sizes = candidates.procedures[place.procedure].sizes
        n = f", {sizes[place.size]} features" if sizes else ""
        return f"{estimator}, {selector}{n}"


def _take_samples(outputs: Outputs, part: SplitPart) -> Outputs:
    """Return the predictions of some samples of a split, at one size."""
    return Outputs(*(None if one is None else one[part.places] for one in outputs))


def _join_pieces(shape: tuple[int, int], pieces: Sequence[Any]) -> Any:
    """Put pieces (layers, columns, values) together; None where one has no values."""
    if any(values is None for _, _, values in pieces):
        return None
    first = pieces[0][2]
    whole = np.empty((*shape, *first.shape[1:]), dtype=first.dtype)
    for layers, columns, values in pieces:
        whole[layers, columns] = values
    return whole


def _is_comparable(score: Score, table: Table) -> bool:
    """Return whether predictions of different estimators may be pooled for a score.

    Decision values and risks have no common scale; classes, numbers and probabilities
    do.
    """
    return score.needs in ("predict", "predict_proba") and table.kind != "survival"


def _signed(found: Interval, sign: float) -> Interval:
    """Turn a score that is greater the better into what is shown."""
    if sign > 0:
        return found
    return Interval(-found.value, -found.high, -found.low)
