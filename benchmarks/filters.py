"""Cases about selectors that score every feature, and FCBF."""

from __future__ import annotations

from functools import partial

from benchmarks import praznik, problems, python_packages, veridical_selectors, weka
from benchmarks.agreement import (
    all_of,
    close_scores,
    overlap,
    rank_correlation,
    same_order,
    same_set,
)
from benchmarks.aims import Faster
from benchmarks.definitions import VERIDICAL, Case, Contender

_SAME_WEIGHTS = all_of(rank_correlation(0.999), overlap(50, 0.95))

RELIEFF = Case(
    name="relieff",
    title="ReliefF, ten neighbours, two classes",
    make=problems.uniform,
    size={"n": 500, "p": 1000},
    small={"n": 80, "p": 60},
    contenders=(
        Contender(
            VERIDICAL, veridical_selectors.fit("relieff", n_features_to_select=50)
        ),
        Contender(
            "fast-select",
            python_packages.fast_select_relieff,
            check=_SAME_WEIGHTS,
            differs="finds neighbours in single precision",
        ),
        Contender(
            "scikit-feature", python_packages.skfeature_relieff, check=_SAME_WEIGHTS
        ),
        Contender(
            "skrebate",
            python_packages.skrebate_relieff,
            check=_SAME_WEIGHTS,
            own_processes=True,
        ),
        Contender(
            "Weka",
            weka.evaluator("ReliefFAttributeEval"),
            prepare=weka.numbers,
            check=_SAME_WEIGHTS,
            own_processes=True,
        ),
    ),
    aims=(
        Faster(VERIDICAL, "fast-select", 1),
        Faster(VERIDICAL, "fast-select", 2),
        Faster(VERIDICAL, "skrebate", 200),
    ),
    notes="Every column fills [0, 1] exactly, so that scikit-feature, which does not "
    "divide differences by the range, solves the same problem; it is wrong for more "
    "than two classes.",
)

RELIEFF_FOLDS = Case(
    name="relieff-folds",
    title="ReliefF for ten training sets",
    make=partial(problems.uniform, n_folds=10),
    size={"n": 500, "p": 1000},
    small={"n": 80, "p": 60},
    contenders=(
        Contender(
            VERIDICAL, veridical_selectors.rank_many("relieff", n_features_to_select=50)
        ),
        Contender(
            "veridical, ten fits",
            veridical_selectors.fit_each("relieff", n_features_to_select=50),
            check=same_order(),
        ),
        Contender(
            "fast-select, ten fits",
            python_packages.fast_select_relieff_each,
            check=overlap(50, 0.95),
            differs="finds neighbours in single precision",
        ),
    ),
    aims=(Faster(VERIDICAL, "fast-select, ten fits", 4),),
    notes="The training sets of stratified ten-fold cross-validation; veridical ranks "
    "for all of them in one call of `rank_many`.",
)

INFORMATION_GAIN = Case(
    name="information-gain",
    title="Information gain with MDL discretisation",
    make=problems.normal,
    size={"n": 1000, "p": 5000},
    small={"n": 100, "p": 60},
    contenders=(
        Contender(VERIDICAL, veridical_selectors.fit("information-gain")),
        Contender(
            "Weka",
            weka.evaluator("InfoGainAttributeEval"),
            prepare=weka.numbers,
            check=close_scores(),
            own_processes=True,
        ),
        Contender(
            "scikit-learn",
            python_packages.sklearn_mutual_information,
            check=overlap(50),
            differs="mutual_info_classif estimates mutual information from nearest "
            "neighbours and does not discretise",
            own_processes=True,
        ),
    ),
    aims=(Faster(VERIDICAL, "Weka", 10, recorded=2.4),),
)

INFORMATION_GAIN_BINNED = Case(
    name="information-gain-binned",
    title="Information gain of columns already in five bins",
    make=problems.binned,
    size={"n": 1000, "p": 5000},
    small={"n": 100, "p": 60},
    contenders=(
        Contender(VERIDICAL, veridical_selectors.fit_codes("information-gain")),
        Contender(
            "praznik",
            praznik.mutual_information,
            prepare=praznik.as_codes,
            check=close_scores(rtol=1e-4),
            own_processes=True,
        ),
        Contender(
            "Weka",
            weka.evaluator("InfoGainAttributeEval"),
            prepare=weka.codes,
            check=close_scores(),
            own_processes=True,
        ),
        Contender(
            "scikit-learn",
            python_packages.sklearn_mutual_information_of_codes,
            check=close_scores(rtol=1e-7, atol=1e-9),
            own_processes=True,
        ),
    ),
    aims=(Faster(VERIDICAL, "praznik", 0.5, recorded=0.055),),
    notes="veridical gets the matrix of codes and the word that all columns are "
    "nominal; finding the codes of each column is part of its time. praznik gets "
    "factors made beforehand.",
)

FCBF = Case(
    name="fcbf",
    title="FCBF, discretisation included",
    make=problems.normal,
    size={"n": 200, "p": 20000},
    small={"n": 100, "p": 60},
    contenders=(
        Contender(
            VERIDICAL, veridical_selectors.select("fcbf", n_features_to_select=None)
        ),
        Contender(
            "Weka, relevance alone",
            weka.evaluator("SymmetricalUncertAttributeEval"),
            prepare=weka.numbers,
            check=close_scores(),
            differs="discretises and scores every column against the class, but does "
            "not search: FCBFSearch is not part of the packaged Weka",
            own_processes=True,
        ),
        Contender(
            "scikit-feature",
            python_packages.skfeature_fcbf,
            prepare=python_packages.discretized,
            check=same_set(),
            differs="gets the columns discretised beforehand (not timed), and cuts the "
            "relevance of its candidates to whole numbers, so that it takes them by "
            "index, not by relevance",
        ),
    ),
    aims=(Faster(VERIDICAL, "Weka, relevance alone", 5, recorded=1.5),),
)

ANOVA = Case(
    name="anova",
    title="F ratio",
    make=problems.normal,
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender(VERIDICAL, veridical_selectors.fit("anova")),
        Contender(
            "scikit-learn", python_packages.sklearn_anova, check=close_scores(rtol=1e-7)
        ),
    ),
    aims=(Faster(VERIDICAL, "scikit-learn", 1),),
    notes="`SelectKBest(f_classif)`.",
)

CASES = (
    RELIEFF,
    RELIEFF_FOLDS,
    INFORMATION_GAIN,
    INFORMATION_GAIN_BINNED,
    FCBF,
    ANOVA,
)
