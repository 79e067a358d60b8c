"""Which is better, and may I believe it? IN, OUT and TRUTH, and the tests they use."""

from veridical._records import Audit, Comparison, TestResult
from veridical.comparison.auditing import CODES, audit
from veridical.comparison.bayesian import bayesian_correlated_t
from veridical.comparison.beside import with_truth
from veridical.comparison.calibration import calibrate
from veridical.comparison.cells import cell_bias, count_cells
from veridical.comparison.classifiers import CLASSIFIERS, LEARNERS, make_classifier
from veridical.comparison.five_by_two import five_by_two_f, five_by_two_t
from veridical.comparison.for_skore import skore_checks
from veridical.comparison.many import compare_many
from veridical.comparison.protocol import compare
from veridical.comparison.rankers import make_selector
from veridical.comparison.ranks import friedman
from veridical.comparison.selecting import select
from veridical.comparison.sensitive import sensitivity
from veridical.comparison.significance import (
    corrected_resampled_t,
    paired_t,
    repeated_cv_t,
    sorted_runs_t,
)
from veridical.comparison.sources import truth
from veridical.comparison.steadiness import stability
from veridical.comparison.truthfulness import binomial_truthfulness, welch_bias

__all__ = [
    "CLASSIFIERS",
    "CODES",
    "LEARNERS",
    "Audit",
    "Comparison",
    "TestResult",
    "audit",
    "bayesian_correlated_t",
    "binomial_truthfulness",
    "calibrate",
    "cell_bias",
    "compare",
    "compare_many",
    "corrected_resampled_t",
    "count_cells",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "make_classifier",
    "make_selector",
    "paired_t",
    "repeated_cv_t",
    "select",
    "sensitivity",
    "skore_checks",
    "sorted_runs_t",
    "stability",
    "truth",
    "welch_bias",
    "with_truth",
]
