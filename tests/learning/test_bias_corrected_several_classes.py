"""More classes and more values: does the correction know its error rate there too?"""

import numpy as np
import pytest

from veridical.learning import BiasCorrectedNB


def draw(seed, n, p, n_classes, n_values, alpha):
    """Samples of the model itself: shares of a feature's values, scattered by class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    theta = rng.dirichlet(np.ones(n_values), p)
    shares = rng.gamma(alpha * np.repeat(theta[:, None], n_classes, axis=1))
    edges = np.cumsum(shares / shares.sum(axis=2, keepdims=True), axis=2)
    X = np.empty((n, p), dtype=np.int64)
    for i in range(n):
        X[i] = (rng.random(p)[:, None] > edges[:, y[i]]).sum(axis=1)
    return np.minimum(X, n_values - 1), y


def gaps(n_sets, n, p, k, n_classes, n_values, alpha):
    """Mean of actual minus expected error rate, and α, by whether corrected."""
    nominal = None if n_values == 2 else list(range(p))
    found = {}
    for correct in (True, False):
        each = []
        for seed in range(n_sets):
            X, y = draw(seed, n + 500, p, n_classes, n_values, alpha)
            model = BiasCorrectedNB(k, correct, categorical_features=nominal)
            model.fit(X[:n], y[:n])
            wrong = 1 - model.score(X[n:], y[n:])
            each.append(
                (wrong - model.expected_error_rate(X[n:]), np.log(model.alpha_))
            )
        found[correct] = np.mean(each, axis=0)
    return found


def test_probabilities_of_three_classes_are_calibrated():
    found = gaps(4, n=120, p=1500, k=50, n_classes=3, n_values=2, alpha=100.0)
    assert abs(found[True][0]) < 0.04
    assert found[False][0] > 0.15
    assert abs(found[True][1] - np.log(100)) < 0.4
    assert found[False][1] < np.log(20)


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "n"), [(2, 60), (3, 90)])
def test_probabilities_of_three_values_are_calibrated(n_classes, n):
    """Summed exactly for two classes, simulated for three."""
    found = gaps(4, n=n, p=300, k=20, n_classes=n_classes, n_values=3, alpha=30.0)
    assert abs(found[True][0]) < 0.03
    assert found[False][0] > 0.04
    assert abs(found[True][1] - np.log(30)) < 0.4
    assert found[False][1] < np.log(10)
