"""Sources with known truth, and readers for data that people have."""

from veridical.datasets.encoding import Encoded, encode
from veridical.datasets.fetching import fetch
from veridical.datasets.hashing import table_hash
from veridical.datasets.loading import available, load
from veridical.datasets.monks import make_monks
from veridical.datasets.reading import read
from veridical.datasets.sources import SOURCES, Source
from veridical.datasets.synthetic import (
    make_beta_bernoulli,
    make_linear,
    make_nonlinear,
    make_random_labels,
)
from veridical.datasets.tables import check_table

__all__ = [
    "SOURCES",
    "Encoded",
    "Source",
    "available",
    "check_table",
    "encode",
    "fetch",
    "load",
    "make_beta_bernoulli",
    "make_linear",
    "make_monks",
    "make_nonlinear",
    "make_random_labels",
    "read",
    "table_hash",
]
