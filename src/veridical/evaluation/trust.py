"""Which interval is the default, and how often each kind has covered the truth.

The coverages were measured on sources whose truth is known: two classes, two weakly
informative features, and features without information. docs/estimating.md has them
estimator by estimator, and a test checks that the two agree.
"""

from __future__ import annotations

from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    RandomSubsampling,
)
from veridical.evaluation.records import Coverage, Estimate

#: Splits; with fewer the corrected t interval is not the default.
_FEWEST_SPLITS = 3

#: Confidence of the intervals whose coverage was measured.
_NOMINAL = 0.95

#: Parts of the conditions below.
_EACH = "500 data sets each"
_ALONE = "100 samples; naive Bayes, 500 data sets"

#: ``python -m tests.evaluation.coverage`` measures them.
MEASURED: dict[Method, dict[str, Coverage]] = {
    Holdout(): {
        "wilson": Coverage(
            0.942, 0.942, "100 of 300 samples; naive Bayes, 2000 data sets"
        )
    },
    CrossValidation(10): {
        "wilson": Coverage(
            0.884, 0.926, f"10 folds of 100 samples; 4 estimators, {_EACH}"
        ),
        "nested": Coverage(
            0.950, 0.950, f"10 folds of 100 samples; 3 estimators, {_EACH}"
        ),
        "corrected-t": Coverage(
            0.972, 0.986, f"10 folds of 100 samples; 4 estimators, {_EACH}"
        ),
    },
    CrossValidation(10, n_repeats=10): {
        "wilson": Coverage(0.938, 0.938, f"10 folds, 10 times, of {_ALONE}"),
        "corrected-t": Coverage(0.936, 0.936, f"10 folds, 10 times, of {_ALONE}"),
    },
    LeaveOut(1): {"wilson": Coverage(0.930, 0.930, f"leave-one-out of {_ALONE}")},
    RandomSubsampling(20): {
        "corrected-t": Coverage(0.956, 0.956, f"20 holdouts of {_ALONE}")
    },
}


def coverage_of(method: Method, n_splits: int) -> dict[str, Coverage]:
    """Look up the coverages measured with this method, or with a similar one."""
    if n_splits == 1:
        like: Method = Holdout()
    elif isinstance(method, CompleteCV):
        return {}
    elif isinstance(method, LeaveOut) and method.k == 1:
        like = LeaveOut(1)
    elif isinstance(method, (CrossValidation, LeaveOut)):
        repeated = getattr(method, "n_repeats", 1) > 1
        like = CrossValidation(10, n_repeats=10 if repeated else 1)
    else:
        like = RandomSubsampling(20)
    # Nested cross-validation repeats the folds itself, whatever the number of repeats.
    return {"nested": MEASURED[CrossValidation(10)]["nested"], **MEASURED[like]}


def default_interval(estimate: Estimate) -> str | None:
    """Return the kind of interval whose measured coverage is closest to nominal.

    ``Estimate.interval()`` returns this kind, and every display of an estimate shows it
    first. It was chosen when the estimate was made. Where the coverage was measured
    with several estimators, the worst of them counts; where a kind was not measured
    with the method, its coverage with ten folds is used.

    Parameters
    ----------
    estimate : Estimate
        What `estimate` returned.

    Returns
    -------
    str or None
        A key of ``estimate.assumes``; None where no interval is valid. ``"nested"``
        only of `Estimate.with_nested`, because it takes many more fits; not
        ``"corrected-t"`` with fewer than three splits.
    """
    return next(iter(estimate.intervals), None)


def choose_interval(estimate: Estimate) -> str | None:
    """Choose the default kind of interval while an estimate is made."""
    offered = list(estimate.assumes)
    ready = [kind for kind in offered if _is_ready(estimate, kind)] or offered
    return min(ready, key=lambda kind: _distance(estimate, kind), default=None)


def _is_ready(estimate: Estimate, kind: str) -> bool:
    if kind == "nested":
        return estimate.nested is not None and bool(estimate.nested.ready)
    if kind == "corrected-t":
        return len(estimate.scores) >= _FEWEST_SPLITS
    return True


def _distance(estimate: Estimate, kind: str) -> float:
    """Return the largest distance of a measured coverage from the nominal one."""
    measured = estimate.coverage.get(kind, MEASURED[CrossValidation(10)][kind])
    return max(abs(measured.low - _NOMINAL), abs(measured.high - _NOMINAL))
