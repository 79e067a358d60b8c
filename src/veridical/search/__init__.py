"""From scores to an order."""

from veridical.search.predominance import predominance
from veridical.search.ranking import rank_by_score

__all__ = ["predominance", "rank_by_score"]
