"""Searches: from scores to an order of features."""

from veridical.search.predominance import predominance
from veridical.search.ranking import lead_by_score, lead_clearly, rank_by_score

__all__ = ["lead_by_score", "lead_clearly", "predominance", "rank_by_score"]
