"""Sources with known truth, and readers for data that people have."""

from veridical.datasets.encoding import Encoded, encode

__all__ = ["Encoded", "encode"]
