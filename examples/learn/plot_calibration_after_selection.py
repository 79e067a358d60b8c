"""
Probabilities after selection
=============================

Features that were selected because they correlate with the class seem more informative
than they are. Ordinary naive Bayes then predicts probabilities of 98 % and is right far
less often. The bias-corrected model also uses how many features were discarded, and
that they correlate less with the class.
"""

import matplotlib.pyplot as plt

from veridical.datasets import make_beta_bernoulli
from veridical.learning import BiasCorrectedNB
from veridical.report.displays import CalibrationDisplay

X, y = make_beta_bernoulli(2200, 5000, random_state=1)
train, test = slice(0, 200), slice(200, None)
models = {
    "corrected": BiasCorrectedNB(100).fit(X[train], y[train]),
    "not corrected": BiasCorrectedNB(100, correct=False).fit(X[train], y[train]),
}

# %%
# Both models keep the same 100 of 5000 weak features and make nearly the same
# decisions. On 2000 new samples only the probabilities of the corrected model are
# calibrated.

for name, model in models.items():
    wrong = 1 - model.score(X[test], y[test])
    print(
        f"{name}: wrong about {wrong:.1%}, "
        f"expects to be wrong about {model.expected_error_rate(X[test]):.1%}"
    )
display = CalibrationDisplay.from_estimators(models, X[test], y[test])
display.figure_.set_size_inches(7, 5)
plt.show()
