"""TRUTH beside IN and OUT on one data set that was drawn from a source."""

from __future__ import annotations

from dataclasses import replace

from veridical._core.errors import InputError
from veridical.comparison import conclusions as say
from veridical.comparison.records import Comparison


def with_truth(comparison: Comparison, truth_comparison: Comparison) -> Comparison:
    """Put what is known of a source beside IN and OUT on one data set drawn from it.

    Parameters
    ----------
    comparison : Comparison
        From `compare`, on data drawn from a source.
    truth_comparison : Comparison
        From `truth`, with the same selectors, classifiers and number of features.

    Returns
    -------
    Comparison
        The first, with TRUTH's accuracies and verdict and the truthfulness of IN and
        OUT over the source's data sets. The bias imbalance is that of this one data
        set against TRUTH, so that it can be checked against the accuracies shown.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, chi2, f_classif
    >>> from veridical.comparison import compare, truth, with_truth
    >>> from veridical.datasets import make_linear
    >>> X, y = make_linear(60, random_state=1)
    >>> common = {"n_features": 5, "classifier": "1nn", "random_state": 0}
    >>> pair = {"a": SelectKBest(f_classif), "b": SelectKBest(chi2)}
    >>> both = with_truth(
    ...     compare(**pair, X=X, y=y, **common),
    ...     truth(**pair, source="linear", n_train=60, n_sets=4, **common),
    ... )
    >>> sorted(both.verdicts)
    ['in', 'out', 'truth']
    """
    for what in ("classifiers", "n_features", "names"):
        one, other = (getattr(r, what) for r in (comparison, truth_comparison))
        if one != other:
            raise InputError(
                f"The two comparisons differ in {what} ({one!r} and {other!r}); TRUTH "
                "stands beside a comparison of the same pair under the same conditions."
            )
    if "truth" not in truth_comparison.verdicts:
        raise InputError("The second comparison has no TRUTH; run it with that method.")
    accuracy = {**comparison.accuracy, "truth": truth_comparison.accuracy["truth"]}
    extra = {
        f"truth: {key}": value
        for key, value in truth_comparison.settings.items()
        if comparison.settings.get(key) != value
    }
    return replace(
        comparison,
        accuracy=accuracy,
        selected={
            **comparison.selected,
            "truth": truth_comparison.selected["truth"],
        },
        verdicts={
            **comparison.verdicts,
            "truth": truth_comparison.verdicts["truth"],
        },
        by_classifier={
            name: {
                **comparison.by_classifier[name],
                "truth": truth_comparison.by_classifier[name]["truth"],
            }
            for name in comparison.classifiers
        },
        bias_imbalance=say.imbalance(accuracy),
        recommendation=" ".join(
            [comparison.recommendation, truth_comparison.recommendation]
        ),
        set_verdicts=truth_comparison.set_verdicts,
        truthfulness=truth_comparison.truthfulness,
        settings={**comparison.settings, **extra},
        stability={**comparison.stability, **truth_comparison.stability},
    )
