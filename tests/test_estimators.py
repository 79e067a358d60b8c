"""Every public estimator keeps scikit-learn's contract."""

import ast
import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import veridical.evaluation
import veridical.learning
import veridical.preparation
import veridical.selection

KNOWN = {cls.__name__ for cls in veridical.selection.SELECTORS.values()} | {
    "ExpressionFilter",
    "MDLDiscretizer",
    "ComBat",
    "Impute",
    "Residualize",
}


#: Estimators of survival times alone.
SURVIVAL = {"CoxRidge", "CoxScore", "Concordance"}


def public_estimators():
    found = {}
    for room in (
        veridical.selection,
        veridical.learning,
        veridical.preparation,
        veridical.evaluation,
    ):
        for name in getattr(room, "__all__", ()):
            thing = getattr(room, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                found[name] = thing
    return found


def test_the_estimators_were_found():
    assert set(public_estimators()) >= KNOWN


def ready(make):
    """An instance that the checks' random tables suit."""
    if make.__name__ == "ExpressionFilter":  # by default for intensities in hundreds
        return make(low=None, high=None, min_fold=None, min_difference=None, log=None)
    if make.__name__ == "SelectionSearchCV":  # few candidates, for time
        return make(
            "anova", sizes=[1], estimators=["nb"], cv=2, n_bootstrap=20, random_state=0
        )
    return make()


#: Checks whose target is 0 and 1, whatever the tags say; times must be positive.
WITH_ZEROS = (
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
    "check_transformer_data_not_an_array",
)


def not_for(estimator):
    """Checks that cannot be passed, with the reason."""
    name = type(estimator).__name__
    if name not in {"CoxScore", "Concordance"}:
        return {}
    return dict.fromkeys(WITH_ZEROS, "the target is 0, and a time must be positive")


@parametrize_with_checks(
    [ready(make) for make in public_estimators().values()],
    expected_failed_checks=not_for,
)
@pytest.mark.filterwarnings("ignore:n_features_to_select:UserWarning")
@pytest.mark.filterwarnings("ignore:.* has no (batch|covariates):UserWarning")
def test_estimator_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("make", public_estimators().values())
def test_constructor_arguments_are_documented_with_their_defaults(make):
    """``name : type, default=value`` in the docstring, with the true value."""
    text = inspect.getdoc(make)
    for name, parameter in inspect.signature(make).parameters.items():
        line = next((x for x in text.splitlines() if x.startswith(f"{name} : ")), None)
        assert line, f"{make.__name__} does not document {name}"
        if parameter.default is not inspect.Parameter.empty and "default=" in line:
            shown = ast.literal_eval(line.split("default=")[1])
            assert shown == parameter.default, line
