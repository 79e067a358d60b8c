"""Searches: from scores to an order of features."""

from veridical.search.predominance import predominance
from veridical.search.ranking import rank_by_score

__all__ = ["predominance", "rank_by_score"]
