"""Which is better, and may I believe it? IN, OUT and TRUTH, and the tests they use."""

from veridical.comparison.auc import delong
from veridical.comparison.bayesian import bayesian_correlated_t
from veridical.comparison.calibration import calibrate
from veridical.comparison.comparing import compare
from veridical.comparison.five_by_two import five_by_two_f, five_by_two_t
from veridical.comparison.known_truth import truth, with_truth
from veridical.comparison.ranks import friedman
from veridical.comparison.records import (
    Bias,
    Calibration,
    Comparison,
    Friedman,
    MeasuredSize,
    PairVerdict,
    Sensitivity,
    TestResult,
    Truthfulness,
    Verdict,
)
from veridical.comparison.sensitivity_analysis import sensitivity
from veridical.comparison.significance import (
    conservative_z,
    corrected_resampled_t,
    paired_t,
    repeated_cv_t,
    sorted_runs_t,
)
from veridical.comparison.truthfulness import (
    binomial_truthfulness,
    sign_test,
    welch_bias,
)
from veridical.evaluation.stability import stability

__all__ = [
    "Bias",
    "Calibration",
    "Comparison",
    "Friedman",
    "MeasuredSize",
    "PairVerdict",
    "Sensitivity",
    "TestResult",
    "Truthfulness",
    "Verdict",
    "bayesian_correlated_t",
    "binomial_truthfulness",
    "calibrate",
    "compare",
    "conservative_z",
    "corrected_resampled_t",
    "delong",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "paired_t",
    "repeated_cv_t",
    "sensitivity",
    "sign_test",
    "sorted_runs_t",
    "stability",
    "truth",
    "welch_bias",
    "with_truth",
]
