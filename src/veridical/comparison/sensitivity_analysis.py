"""How often IN and OUT find the truth about a pair, on data like the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from veridical._core.errors import InputError
from veridical._core.numbers import pvalue
from veridical._core.progress import ProgressLike
from veridical._core.repeating import repeatable
from veridical._core.seeds import root_seed
from veridical._core.text import listing
from veridical._core.types import (
    CVLike,
    EstimatorLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    ScoringLike,
    SelectorLike,
    WeightsLike,
)
from veridical._core.validation import check_count
from veridical.comparison.comparing import compare
from veridical.comparison.design import read_learners
from veridical.comparison.known_truth import make_pair, read_one_score, truth
from veridical.comparison.records import Comparison, Sensitivity, TestResult
from veridical.comparison.simulation import SimulatedSource
from veridical.comparison.testing import find_test

#: How the sources are made, in words.
RECIPE = (
    "Sources have as many samples and features as the data, and its class shares. "
    "Values are drawn from those observed, missing ones with their share. A feature "
    "whose values differ between classes (F of normal scores or of their squares, χ² "
    "for categorical features, false discovery rate 10 %) is drawn from the values of "
    "its own class with probability strength · sqrt(1 − 1/F), else from all; all other "
    "features carry no information. Numeric features are correlated within the classes "
    "as observed, shrunk towards independence (Schäfer & Strimmer 2005). Groups are "
    "those of the data, and samples of one group are correlated as observed. "
    "Interactions between features are left out."
)
#: The same for numbers and survival times.
RECIPE_OF_SCORES = (
    "Sources have as many samples and features as the data, and its outcomes. Values "
    "are drawn from those observed, missing ones with their share. A feature whose "
    "normal scores are correlated with the outcome (the normal scores of numbers, or "
    "of the quantiles that censored times are expected to have; false discovery rate "
    "10 %) keeps strength · sqrt(1 − 1/F) of its correlation; all other features carry "
    "no information. Numeric features are correlated as observed without what the "
    "outcome explains, shrunk towards independence (Schäfer & Strimmer 2005). Groups "
    "are those of the data, and samples of one group are correlated as observed. "
    "Relations that are not monotone, and interactions, are left out."
)
#: What is added where samples have weights.
RECIPE_OF_WEIGHTS = (
    " Samples count as often as their weights say in all of this; data sets that are "
    "drawn have no weights."
)


@repeatable
def sensitivity(
    selectors: Sequence[SelectorLike] | Mapping[str, SelectorLike],
    X: MatrixLike,
    y: LabelsLike,
    *,
    estimator: EstimatorLike | Sequence[EstimatorLike] | None = None,
    n_features_to_select: int | float | Literal["auto"] = "auto",
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    strengths: Sequence[float] = (0.5, 1.0, 1.5),
    n_sets: int = 100,
    n_test: int = 1000,
    scoring: ScoringLike = None,
    cv: CVLike = 10,
    test: str | Callable[..., TestResult] = "corrected-t",
    alpha: float = 0.05,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    progress: ProgressLike = None,
) -> Sensitivity:
    """Compare IN and OUT with the truth on sources like the data.

    The comparison paper advises to try the two methods on synthetic data like one's
    own before believing either. Sources are made that resemble the data and can be
    sampled without limit; there the truth is known, and IN and OUT are compared with
    it.

    Parameters
    ----------
    selectors : sequence of selectors, or mapping of display name to selector
        Exactly two, as in `compare`.
    X, y, estimator, n_features_to_select, groups, sample_weight, cv, test, alpha, name
        As in `compare`; y may be classes, numbers or survival times. Data sets drawn
        from a source have the groups of the data, and samples of one group resemble
        each other as observed. They have no weights, but the values that a source draws
        occur as often as the weights of the data say.
    strengths : sequence of float, default=(0.5, 1.0, 1.5)
        One source for each: factor of the strength found in the data, which is an
        estimate, and on which the results of IN and OUT depend.
    n_sets : int, default=100
        Data sets drawn from each source.
    n_test : int, default=1000
        Samples in a test set of TRUTH.
    scoring : str, callable or None
        What counts, one score as in `truth`; None is accuracy, R² or concordance.
    random_state : int, numpy random generator or None, default=None
        Decides everything that is random.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. The result does not depend on it.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` after each data set. By default, work that
        takes more than two seconds tells its cost and its progress on standard error;
        False is silent.

    Returns
    -------
    Sensitivity
        Per source the truth and how often IN and OUT found it, beside IN and OUT on the
        data itself.

    See Also
    --------
    truth : The same on any source.

    Notes
    -----
    A source keeps the number of samples and features, class shares (or the numbers or
    survival times themselves), marginal distributions, missing values, shrunken
    relations with the outcome and shrunken correlations of features given the outcome;
    it has no interactions. `Sensitivity.recipe` has the full
    description. Where the accuracies on the source at strength 1 are far from those
    observed, it does not resemble the data, and its verdict says little.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
    .. [2] J. Schäfer & K. Strimmer, "A shrinkage approach to large-scale covariance
       matrix estimation and implications for functional genomics", Statistical
       Applications in Genetics and Molecular Biology 4 (2005).
    .. [3] Y. Benjamini & Y. Hochberg, "Controlling the false discovery rate", Journal
       of the Royal Statistical Society B 57 (1995).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from veridical.comparison import sensitivity
    >>> X, y = load_wine(return_X_y=True)
    >>> result = sensitivity(
    ...     ["anova", "information-gain"],
    ...     X,
    ...     y,
    ...     estimator="nb",
    ...     n_features_to_select=2,
    ...     strengths=(1.0,),
    ...     n_sets=4,
    ...     random_state=0,
    ... )
    >>> result.to_frame()[["strength", "n_relevant", "n_sets"]].values.tolist()
    [[1.0, 13.0, 4.0]]
    """
    strengths = _check_strengths(strengths)
    check_count("n_sets", n_sets, 2)
    test = find_test(test)
    root = root_seed(random_state)
    _, data = read_learners(
        estimator, X, y, root, groups=groups, sample_weight=sample_weight
    )
    make_pair(selectors, root)
    read_one_score(scoring, data)
    common: dict[str, Any] = {
        "estimator": estimator,
        "n_features_to_select": n_features_to_select,
        "scoring": scoring,
        "cv": cv,
        "test": test,
        "alpha": alpha,
        "random_state": root,
        "n_jobs": n_jobs,
    }
    observed = compare(selectors, data, data.labels, name=name, **common)
    found, relevant = [], []
    for i, strength in enumerate(strengths):
        source = SimulatedSource.from_table(data, strength)
        record = truth(
            selectors,
            source,
            name=f"like {observed.data.name}, strength {strength:g}",
            n_train=data.n_samples,
            n_test=n_test,
            n_sets=n_sets,
            progress=_shifted(progress, i * n_sets, len(strengths) * n_sets),
            **common,
        )
        found.append(record)
        relevant.append(source.n_relevant)
    return Sensitivity(
        names=observed.names,
        data=observed.data,
        observed=observed,
        strengths=strengths,
        n_relevant=tuple(relevant),
        sources=tuple(found),
        recommendation=recommend_on_sources(observed, strengths, found),
        recipe=(RECIPE if data.kind == "classes" else RECIPE_OF_SCORES)
        + RECIPE_OF_WEIGHTS * (data.weights is not None),
        settings={
            **observed.settings,
            "strengths": strengths,
            "n_sets": n_sets,
            "test samples of truth": n_test,
        },
    )


def _check_strengths(strengths: Sequence[float]) -> tuple[float, ...]:
    try:
        given = tuple(float(strength) for strength in strengths)
    except (TypeError, ValueError):
        given = ()
    if not given or not all(0 <= strength < float("inf") for strength in given):
        raise InputError(
            f"strengths must be numbers from 0 up, such as (0.5, 1, 1.5); got "
            f"{strengths!r}."
        )
    return given


def _shifted(progress: ProgressLike, before: int, total: int) -> ProgressLike:
    if not callable(progress):
        return False
    return lambda done, _: progress(before + done, total)


# -- the recommendation --------------------------------------------------------------


def recommend_on_sources(
    observed: Comparison, strengths: Sequence[float], found: Sequence[Comparison]
) -> str:
    """Write what is true on each source, and how often IN and OUT found it."""
    order = sorted(range(len(found)), key=lambda i: abs(strengths[i] - 1))
    nearest = found[order[0]]
    sentences = [_on_source(nearest, strengths[order[0]], observed)]
    sentences += [_briefly(found[i], strengths[i]) for i in order[1:]]
    better = {one.truthfulness.better for one in found if one.truthfulness is not None}
    if better == {"in"}:
        advice = "IN is the method to trust for this pair on data like these."
    elif better == {"out"}:
        advice = (
            "OUT finds the truth about this pair more often on data like these, so it "
            "may help to pick features; its scores remain optimistic, and a claim "
            "still rests on IN."
        )
    elif better == {"same"}:
        advice = (
            "Neither method is shown to reach the true verdict more often on data "
            "like these, so use IN, which does not leak."
        )
    else:
        advice = (
            "Which method reaches the true verdict more often depends on how strong "
            "the features are, which the data do not tell; use IN to claim, and both "
            "to pick features."
        )
    return " ".join([*sentences, advice])


def _truth(record: Comparison) -> str:
    verdict = record.verdicts["truth"]
    if verdict.winner == "draw":
        return "neither selector is shown to be truly better"
    better = record.pairs["truth"][0].better
    gap = record.scoring.write_gap(abs(verdict.mean_difference), signed=False)
    return f"{better} is truly better, by {gap}"


def _counts(record: Comparison) -> str:
    n_sets, right = len(record.set_verdicts["in"]), record.n_right
    outcome = record.truthfulness
    assert outcome is not None
    who = "neither" if outcome.better == "same" else outcome.better.upper()
    return (
        f"IN says so on {right['in']} and OUT on {right['out']} of {n_sets} data sets "
        f"({who} significantly more often, {pvalue(outcome.pvalue)})"
    )


def _on_source(record: Comparison, strength: float, observed: Comparison) -> str:
    info = record.scoring
    like = listing(
        f"{info.write(record.means['in'][i].value)} for {name} "
        f"(observed {info.write(observed.means['in'][i].value)})"
        for i, name in enumerate(record.names)
    )
    what = "Accuracies" if info.is_accuracy else f"Values of {info.full_label}"
    return (
        f"On a source like these data (strength {strength:g}) {_truth(record)}; "
        f"{_counts(record)}. {what} under IN on this source and on the data: {like}."
    )


def _briefly(record: Comparison, strength: float) -> str:
    return f"At strength {strength:g} {_truth(record)}; {_counts(record)}."
