"""Cases about searches that add one feature after the other."""

from __future__ import annotations

from functools import partial

from benchmarks import praznik, problems, python_packages, veridical_selectors
from benchmarks.agreement import overlap, same_order
from benchmarks.aims import Faster
from benchmarks.definitions import VERIDICAL, Case, Contender

_PRODUCTS = Contender(
    "the products alone",
    python_packages.products,
    prepare=python_packages.standardized,
    differs="no selector: the matrix–vector products that any such search needs, one "
    "for each feature selected",
)

MRMR = Case(
    name="mrmr",
    title="mRMR, 100 features of 12000",
    make=partial(problems.normal, n_selected=100),
    size={"n": 200, "p": 12000},
    small={"n": 60, "p": 150},
    contenders=(
        Contender(VERIDICAL, veridical_selectors.fit("mrmr", n_features_to_select=100)),
        _PRODUCTS,
        Contender(
            "praznik",
            praznik.mrmr,
            prepare=praznik.as_codes,
            check=overlap(100),
            differs="measures relevance and redundancy by mutual information of "
            "columns in five bins (binning not timed)",
            own_processes=True,
        ),
        Contender(
            "mrmr_selection, one job",
            python_packages.mrmr_selection_one_job,
            prepare=python_packages.as_frame,
            check=same_order(100),
        ),
        Contender(
            "mrmr_selection, default",
            python_packages.mrmr_selection_default,
            prepare=python_packages.as_frame,
            check=same_order(100),
            own_processes=True,
        ),
    ),
    aims=(
        Faster(VERIDICAL, "the products alone", 0.5),
        Faster(VERIDICAL, "praznik", 2, recorded=0.6),
        Faster(VERIDICAL, "mrmr_selection, one job", 300),
        Faster(VERIDICAL, "mrmr_selection, default", 300),
    ),
)

DDP = Case(
    name="ddp",
    title="Differential prioritization, 100 features of 12000, four classes",
    make=partial(problems.normal, n_selected=100, n_classes=4),
    size={"n": 200, "p": 12000},
    small={"n": 60, "p": 150},
    contenders=(
        Contender(VERIDICAL, veridical_selectors.fit("ddp", n_features_to_select=100)),
        _PRODUCTS,
    ),
    aims=(Faster(VERIDICAL, "the products alone", 0.5),),
    notes="No other package has this selector.",
)

CASES = (MRMR, DDP)
