"""How good is a feature, and how much does it repeat another?

A *relevance* scores every feature for many training sets at once; a *redundancy* says
how much every feature repeats a given one. Neither knows how it will be searched.
"""

from veridical.criteria.anova import AnovaRelevance, CorrelationRelevance
from veridical.criteria.information import InformationRelevance, UncertaintyRelevance
from veridical.criteria.protocols import Relevance
from veridical.criteria.relief import MultiSurfRelevance, ReliefRelevance

__all__ = [
    "AnovaRelevance",
    "CorrelationRelevance",
    "InformationRelevance",
    "MultiSurfRelevance",
    "Relevance",
    "ReliefRelevance",
    "UncertaintyRelevance",
]
