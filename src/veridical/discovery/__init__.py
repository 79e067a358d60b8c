"""Claims about single features, with error rates that were measured.

`discover` finds the features that may be claimed; the parts that it is made of can be
used by themselves.
"""

from veridical.discovery.bounds import (
    false_selections,
    least_threshold,
    most_selected,
)
from veridical.discovery.discovering import discover
from veridical.discovery.knockoffs import gaussian_knockoffs
from veridical.discovery.multiplicity import (
    benjamini_yekutieli,
    e_benjamini_hochberg,
    holm,
    knockoff_evalues,
    knockoff_threshold,
)
from veridical.discovery.records import Discoveries, MeasuredRate, StabilityPath
from veridical.kernels.statistics import benjamini_hochberg

__all__ = [
    "Discoveries",
    "MeasuredRate",
    "StabilityPath",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "discover",
    "e_benjamini_hochberg",
    "false_selections",
    "gaussian_knockoffs",
    "holm",
    "knockoff_evalues",
    "knockoff_threshold",
    "least_threshold",
    "most_selected",
]
