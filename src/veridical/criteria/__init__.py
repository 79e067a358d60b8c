"""Relevance of features, and redundancy of pairs.

A *relevance* scores every feature for many training sets at once; a *redundancy* is the
similarity of every feature with a given one. Neither depends on the search.
"""

from veridical.criteria.anova import (
    AnovaRelevance,
    CorrelationRelevance,
    VarianceRelevance,
)
from veridical.criteria.information import (
    InformationRelevance,
    NeighborInformation,
    UncertaintyRelevance,
)
from veridical.criteria.protocols import (
    LeadingRelevance,
    PermutedRelevance,
    Relevance,
)
from veridical.criteria.relief import (
    MultiSurfRelevance,
    RegressionReliefRelevance,
    ReliefRelevance,
)
from veridical.criteria.survival import ConcordanceRelevance, CoxRelevance

__all__ = [
    "AnovaRelevance",
    "ConcordanceRelevance",
    "CorrelationRelevance",
    "CoxRelevance",
    "InformationRelevance",
    "LeadingRelevance",
    "MultiSurfRelevance",
    "NeighborInformation",
    "PermutedRelevance",
    "RegressionReliefRelevance",
    "Relevance",
    "ReliefRelevance",
    "UncertaintyRelevance",
    "VarianceRelevance",
]
