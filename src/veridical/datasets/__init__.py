"""Sources with known truth, and readers for data that people have."""

from veridical._core.hashing import table_hash
from veridical._core.lazy import LazyMatrix
from veridical._core.lazy_readers import by_blocks
from veridical.datasets.embedded import EMBEDDED
from veridical.datasets.fetching import fetch
from veridical.datasets.formats import read
from veridical.datasets.identifiers import find_groups_in_ids
from veridical.datasets.loading import available, load, locate
from veridical.datasets.monks import make_monks
from veridical.datasets.sources import SOURCES, Source
from veridical.datasets.synthetic import (
    make_beta_bernoulli,
    make_linear,
    make_nonlinear,
    make_random_labels,
)
from veridical.datasets.synthetic_targets import (
    make_friedman,
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)

__all__ = [
    "EMBEDDED",
    "SOURCES",
    "LazyMatrix",
    "Source",
    "available",
    "by_blocks",
    "fetch",
    "find_groups_in_ids",
    "load",
    "locate",
    "make_beta_bernoulli",
    "make_friedman",
    "make_linear",
    "make_linear_regression",
    "make_monks",
    "make_nonlinear",
    "make_random_labels",
    "make_random_numbers",
    "make_random_survival",
    "make_survival",
    "read",
    "table_hash",
]
