"""LUFe with C and gamma chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.model_selection import check_cv
from threadpoolctl import threadpool_limits

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import show
from veridical.kernels.svm_plain import solve_plain
from veridical.kernels.svm_plus_cases import Cases
from veridical.kernels.svm_plus_grid import score_grid
from veridical.kernels.threads import run, thread_count
from veridical.learning.lufe import LUFe
from veridical.learning.lufe_split import Training
from veridical.learning.svm_plus_checks import choose
from veridical.learning.svm_plus_grams import signs

#: The grid of the LUFe paper, for both parameters.
GRID = tuple(10.0**k for k in range(-3, 4))


class LUFeCV(LUFe):
    """Learning using unselected features, C and gamma chosen by cross-validation.

    The selector is fitted once, on all cases given; the folds serve the choice of C and
    gamma only, as in the LUFe paper [1]_. So ``best_score_`` flatters: estimate
    accuracy by cross-validating this classifier as a whole.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    Cs : sequence of float, default=None
        Values of C; None takes seven from 0.001 to 1000.
    gammas : sequence of float, default=None
        Values of gamma; None takes seven from 0.001 to 1000.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; an int makes stratified ones, in the order of the cases.
    unselected_fraction : float, default=1.0
        Share of the unselected features to learn with; see `LUFe`.
    privileged_bias : bool, default=True
        Whether slacks have a constant; see `LUFe`.
    n_jobs : int, default=None
        Number of threads for the folds; None is 1, -1 all cores.

    Attributes
    ----------
    C_, gamma_ : float
        The pair with the best mean accuracy; of equals the first, gamma outer, C inner.
    best_score_ : float
        That accuracy.
    scores_ : array of shape (n_gammas, n_Cs, n_folds)
        All accuracies; NaN where a problem has no solution.
    classes_, selector_, support_, unselected_, coef_, intercept_ : see `LUFe`
        Of the classifier with the chosen pair, on all cases.
    privileged_coef_, dual_gap_, n_iter_, n_features_in_ : see `LUFe`
        Likewise.

    See Also
    --------
    LUFe : With C and gamma given.

    Notes
    -----
    Gram matrices are computed once, on all cases; a fold takes its part of them. Within
    a fold the grid shares one factorization and its solutions start each other.

    References
    ----------
    .. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning
       using unselected features (LUFe)", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from veridical.learning import LUFeCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 200))
    >>> X[:, :5] += y[:, None]
    >>> model = LUFeCV(SelectKBest(k=10), n_jobs=1).fit(X, y)
    >>> model.scores_.shape
    (7, 7, 5)
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        Cs: Sequence[float] | None = None,
        gammas: Sequence[float] | None = None,
        cv: Any = 5,
        unselected_fraction: float = 1.0,
        privileged_bias: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.unselected_fraction = unselected_fraction
        self.privileged_bias = privileged_bias
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select, choose C and gamma, learn on all cases.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each case, and its weight in an accuracy; none negative.
            The selector sees it if it takes weights.

        Returns
        -------
        LUFeCV
            The fitted classifier itself.
        """
        Cs, gammas = _values(self.Cs, "Cs"), _values(self.gammas, "gammas")
        n_threads = thread_count(self.n_jobs)
        training = self._prepare(X, y, sample_weight)
        gram = training.gram()
        gram_star = training.gram_star() if training.unselected.size else None
        with threadpool_limits(1, "blas"):
            self.scores_ = self._score(training, gram, gram_star, Cs, gammas, n_threads)
            means = self.scores_.mean(axis=2)
            kept, training = training.merged()
            inside = np.ix_(kept, kept)
            gram = gram[inside]
            gram_star = None if gram_star is None else gram_star[inside]
            part: Any = None if gram_star is None else lambda: gram_star
            if np.isnan(means).all():  # says in words that nothing is feasible
                self._solve(training, lambda: gram, part, Cs[0], gammas[0])
            row, column = np.unravel_index(np.nanargmax(means), means.shape)
            self.best_score_ = float(means[row, column])
            self.C_, self.gamma_ = Cs[column], gammas[row]
            self._solve(training, lambda: gram, part, self.C_, self.gamma_)
        return self

    def _score(
        self,
        training: Training,
        gram: FloatArray,
        gram_star: FloatArray | None,
        Cs: list[float],
        gammas: list[float],
        n_threads: int,
    ) -> FloatArray:
        splitter = check_cv(self.cv, training.y, classifier=True)
        folds = list(splitter.split(training.X, training.y))
        if not folds:
            raise InputError(f"cv={show(self.cv)} has no folds; give at least one.")
        scores = np.empty((len(gammas), len(Cs), len(folds)))

        def work(number: int) -> None:
            train, test = folds[number]
            scores[:, :, number] = _accuracies(
                training, gram, gram_star, train, test, Cs, gammas, self
            )

        run(work, [(number,) for number in range(len(folds))], n_threads)
        return scores

    def _deployed_C(self) -> float:
        return float(self.C_)


def _values(given: Sequence[float] | None, name: str) -> list[float]:
    try:
        values = list(GRID if given is None else given)
    except TypeError:
        values = []
    if not values or not all(_is_price(v) for v in values):
        raise InputError(f"{name}={given!r} must be a list of positive numbers.")
    return [float(v) for v in values]


def _is_price(value: Any) -> bool:
    return isinstance(value, Real) and 0 < float(value) < np.inf


def _accuracies(
    training: Training,
    gram: FloatArray,
    gram_star: FloatArray | None,
    train: Any,
    test: Any,
    Cs: list[float],
    gammas: list[float],
    machine: LUFeCV,
) -> FloatArray:
    """Accuracy on one fold, for every gamma and C."""
    classes, weights = machine.classes_, training.weights
    train, test = np.asarray(train), np.asarray(test)
    train, test = train[weights[train] > 0], test[weights[test] > 0]
    if not test.size or len(np.unique(training.y[train])) < len(classes):
        raise InputError(
            "A fold has no case to test, or its training part lacks one of the "
            "classes; use fewer folds, or drop classes with so few cases."
        )
    answers = []
    for sign in signs(training.y, classes):
        if gram_star is None:
            line = _plain_scores(gram, sign, weights, train, test, Cs)
            answers.append(np.repeat(line[None], len(gammas), axis=0))
        else:
            answers.append(
                score_grid(
                    gram, gram_star, sign, weights, train, test, Cs, gammas,
                    machine.privileged_bias,
                )
            )  # fmt: skip
    scores = np.stack(answers, axis=-1)
    result = np.empty(scores.shape[:2])
    for place in np.ndindex(result.shape):
        one = scores[place]
        if np.isnan(one).any():
            result[place] = np.nan
            continue
        guess = choose(classes, one[:, 0] if one.shape[1] == 1 else one)
        result[place] = np.average(guess == training.y[test], weights=weights[test])
    return result


def _plain_scores(
    gram: FloatArray,
    sign: FloatArray,
    weights: FloatArray,
    train: Any,
    test: Any,
    Cs: list[float],
) -> FloatArray:
    cases = Cases(gram[np.ix_(train, train)], sign[train])
    across = gram[np.ix_(test, train)] * sign[train]
    found = [solve_plain(cases, C * weights[train]) for C in Cs]
    return np.array([across @ one.alpha + one.bias for one in found])
