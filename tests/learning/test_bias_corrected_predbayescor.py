"""With its grid, its rule and its ties the figures are those of the R package."""

import numpy as np
import pytest
from tests.learning.predbayescor_results import FIGURES

from veridical.datasets import make_beta_bernoulli
from veridical.learning import BiasCorrectedNB


@pytest.mark.parametrize(("k", "correct"), FIGURES)
def test_figures_of_the_package(k, correct):
    threshold, columns, expected, factor = FIGURES[k, correct]
    X, y = make_beta_bernoulli(87, 300, alpha=40, classes="drawn", random_state=11)
    options = {"ties": "lt", "alpha_grid": "quantile", "n_alphas": 20}
    model = BiasCorrectedNB(k, correct, theta_rule="simpson", **options)
    model.fit(X[:81], y[:81])
    assert model.threshold_ == pytest.approx(threshold, abs=1e-14)
    assert model.order_[:k].tolist() == columns
    assert model.predict_proba(X[81:])[:, 1] == pytest.approx(expected, abs=1e-11)
    if correct:
        logs = (300 - k) * np.log(factor)
        assert model.log_adjustment_ == pytest.approx(logs, abs=1e-8)
    exact = BiasCorrectedNB(k, correct, **options).fit(X[:81], y[:81])
    found = exact.predict_proba(X[81:])[:, 1]
    assert found == pytest.approx(expected, abs=1e-4)  # what Simpson's rule costs
    assert np.abs(found - expected).max() > 1e-7
