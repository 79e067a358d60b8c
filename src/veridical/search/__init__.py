"""Searches: from scores to an order of features."""

from veridical.search.predominance import predominance
from veridical.search.ranking import lead_by_score, rank_by_score

__all__ = ["lead_by_score", "predominance", "rank_by_score"]
