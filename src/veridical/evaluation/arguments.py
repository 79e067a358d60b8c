"""What people pass as selector or estimator: a name or an object, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from veridical._core.errors import InputError
from veridical._core.reading import is_frame, is_survival, read_table
from veridical._core.scoring import SCORERS
from veridical._core.table import Table
from veridical._core.targets import TARGET_NAMES, Kind
from veridical._core.text import did_you_mean, one_line
from veridical._core.types import BatchLike, CovariatesLike
from veridical.evaluation.engine import common_target, selecting_step
from veridical.learning import (
    DEFAULT_ESTIMATORS,
    estimators_for,
    make_estimator,
)
from veridical.learning.outcomes import target_of
from veridical.learning.registry import ESTIMATOR_NAMES, estimator_name
from veridical.preparation.blocks import read_with_blocks
from veridical.selection import SELECTORS

_NAMES_IN_WORDS = {
    **SCORERS,
    **{key: one.__name__ for key, one in SELECTORS.items()},
    **ESTIMATOR_NAMES,
}


def make_selector(name: str, **parameters: Any) -> Any:
    """Make a selector by its name.

    Parameters
    ----------
    name : str
        A key of ``veridical.selection.SELECTORS``.
    **parameters : object
        What the selector is made with.

    Examples
    --------
    >>> make_selector("anova", n_features_to_select=3)
    AnovaF(n_features_to_select=3)
    """
    if name not in SELECTORS:
        raise InputError(
            f"There is no selector {name!r}{did_you_mean(name, SELECTORS)} Use one of "
            f"{', '.join(sorted(SELECTORS))}, or pass a scikit-learn selector."
        )
    return SELECTORS[name](**parameters)


def read_selector(given: Any, what: str = "selector") -> Any:
    """Check a selector, or make it by its name.

    Parameters
    ----------
    given : str or selector
        As the user gave it.
    what : str, default="selector"
        What messages call it.
    """
    if isinstance(given, str):
        return make_selector(given)
    _refuse_class(given, what.capitalize())
    # Of a pipeline, the last step selects.
    step = selecting_step(given)
    if not hasattr(step, "rank_many") and not (
        hasattr(step, "fit") and hasattr(step, "get_support")
    ):
        raise InputError(
            f"{what.capitalize()} is {given!r}, which does not select features: it "
            "needs rank_many, or fit and get_support as scikit-learn's selectors have, "
            "or must be a pipeline whose last step has them."
        )
    return given


def read_estimator(given: Any) -> Any:
    """Check an estimator, or make it by its name.

    Parameters
    ----------
    given : str or classifier, regressor or survival estimator
        As the user gave it.
    """
    if isinstance(given, str):
        return make_estimator(given)
    _refuse_class(given, "estimator")
    if not (hasattr(given, "get_params") and hasattr(given, "fit")):
        raise InputError(
            f"estimator={given!r} is not a scikit-learn estimator: it has no fit, or "
            "no get_params; pass a classifier, a regressor, a survival estimator, a "
            "pipeline that ends in one, or a name such as 'svm'."
        )
    if target_of(given) is None:
        raise InputError(
            f"estimator={one_line(given)} is not a classifier, regressor or survival "
            "estimator; pass one, or a pipeline that ends in one."
        )
    return given


def _refuse_class(given: Any, what: str) -> None:
    """Raise if a class was passed where an instance is needed."""
    if isinstance(given, type):
        raise InputError(
            f"{what} is the class {given.__name__}; pass an instance, "
            f"{given.__name__}(...)."
        )


def read_problem(
    estimators: Sequence[Any],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    name: str | None = None,
    encoded: bool = True,
    batch: BatchLike = None,
    covariates: CovariatesLike = None,
    blocks: bool = False,
    layer: str | None = None,
) -> Table:
    """Read a table; the estimators decide the kind of its target.

    Parameters
    ----------
    estimators : sequence of estimators
        From `read_estimator`; where there are none, the values of y decide.
    X, y, groups, sample_weight, name, encoded, blocks, layer
        As in ``read_table``.
    batch, covariates
        As in ``read_with_blocks``.

    Raises
    ------
    InputError
        If the estimators learn different kinds of target, or the target is of another
        kind.
    """
    if isinstance(X, Table):
        kind = common_target(estimators)
        if kind not in (None, X.kind):
            raise InputError(
                f"{name_of(estimators[0])} learns {TARGET_NAMES[kind or 'classes']}, "
                f"but the target is {TARGET_NAMES[X.kind]}; {_instead(X.kind)}."
            )
        return read_table(X, y, groups=groups, sample_weight=sample_weight, name=name)
    kind = common_target(estimators)
    named = is_frame(y) or getattr(getattr(y, "dtype", None), "names", None)
    if kind in ("classes", "numbers") and named and is_survival(y):
        raise InputError(
            f"{name_of(estimators[0])} learns {TARGET_NAMES[kind or 'classes']}, but y "
            f"holds events and times; {_instead('survival')}."
        )
    return read_with_blocks(
        X,
        y,
        batch=batch,
        covariates=covariates,
        groups=groups,
        sample_weight=sample_weight,
        kind=kind or "auto",
        name=name,
        encoded=encoded,
        blocks=blocks,
        layer=layer,
    )


def read_learner(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Table]:
    """Read an estimator, or None for the default of the target, and the table.

    Parameters
    ----------
    estimator : str, estimator or None
        As the user gave it.
    X, y, **options
        As in `read_problem`.

    Returns
    -------
    estimator : str or estimator
        As it was given; the registered name of the default in place of None.
    table : Table
        The samples.
    """
    given = [] if estimator is None else [read_estimator(estimator)]
    table = read_problem(given, X, y, **options)
    return (DEFAULT_ESTIMATORS[table.kind] if estimator is None else estimator), table


def _instead(kind: Kind) -> str:
    """Name the registered estimators that learn a kind of target."""
    known = estimators_for(kind)
    other = {
        "classes": "a classifier",
        "numbers": "a regressor",
        "survival": "an estimator of scikit-survival",
    }[kind]
    return f"use {', '.join([*map(repr, known), ''])}{'or ' * bool(known)}{other}"


def name_of(given: Any) -> str:
    """Return what people call a selector, an estimator or a scorer.

    Pages, tables, sentences and the terminal all use this name.

    Parameters
    ----------
    given : str or object
        A registered name, a scikit-learn scorer's name, or the object; any other text
        is a name already, and stays as it is.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> name_of("anova"), name_of("nb"), name_of("roc_auc")
    ('AnovaF', 'naive Bayes', 'area under the ROC curve')
    >>> name_of(make_pipeline(make_selector("relieff"), GaussianNB()))
    'ReliefF, then GaussianNB'
    """
    if isinstance(given, str):
        return _NAMES_IN_WORDS.get(given, given)
    shown_as = getattr(given, "shown_as", None)
    if shown_as is not None:  # preparation that is described elsewhere
        return name_of(shown_as)
    if type(given) is Pipeline:
        return ", then ".join(name_of(step) for _, step in given.steps)
    return estimator_name(given)


def label_of(given: Any) -> str:
    """Return the registered name that was given, or else the name of the object.

    Records hold it, so that programs find a registered estimator by its short name;
    `name_of` turns it into what people read.
    """
    return given if isinstance(given, str) else name_of(given)
