"""LeakBench: mistakes planted with a known dose, and checks scored on them.

Each mechanism plants one mistake into an honest table, so that the truth is known. The
study ``leakbench`` counts how often `veridical.audit` and other leak checkers find it,
and how often they raise a false alarm on honest work.
"""

from veridical.leakbench.controls import CONTROLS
from veridical.leakbench.honest_tables import (
    HONEST_SOURCES,
    HonestTable,
    draw_table,
    real_sources,
    simulated_sources,
)
from veridical.leakbench.mechanisms import MECHANISMS
from veridical.leakbench.planting import Control, Mechanism, Planted, Scenario

__all__ = [
    "CONTROLS",
    "HONEST_SOURCES",
    "MECHANISMS",
    "Control",
    "HonestTable",
    "Mechanism",
    "Planted",
    "Scenario",
    "draw_table",
    "real_sources",
    "simulated_sources",
]
