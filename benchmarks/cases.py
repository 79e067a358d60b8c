"""The cases: problems, contenders, how results are compared, and the aims.

Ratios are always to the first contender of a case.
"""

from __future__ import annotations

from functools import partial

from benchmarks import (
    bias_corrected,
    comparison,
    elimination,
    engine,
    estimation,
    lufe,
    ours,
    praznik,
    problems,
    theirs,
    weka,
)
from benchmarks.agreement import (
    all_of,
    close_scores,
    overlap,
    rank_correlation,
    same_elimination,
    same_order,
    same_set,
)
from benchmarks.aims import Faster, Lean
from benchmarks.declare import Case, Contender
from benchmarks.prioritization import DDP_PATH, NESTED

VERIDICAL = "veridical"

#: Parameters under which every selector is asked for many training sets.
EVERY: dict[str, dict[str, object]] = {
    "information-gain": {},
    "anova": {},
    "correlation": {},
    "relieff": {},
    "fcbf": {},
    "mrmr": {},
    "ddp": {},
    "hsic": {"kernel": "linear"},
    "svm-rfe": {"step": 0.1},
}

#: What `rank_many` over ten folds may cost, in fits on all rows.
MANY_AIMS = {
    "information-gain": 5,
    "anova": 2,
    "correlation": 2,
    "relieff": 4,
    "fcbf": 6,
    "mrmr": 5,
    "ddp": 5,
}

_SAME_WEIGHTS = all_of(rank_correlation(0.999), overlap(50, 0.95))

RELIEFF = Case(
    name="relieff",
    title="ReliefF, ten neighbours, two classes",
    make=problems.uniform,
    size={"n": 500, "p": 1000},
    small={"n": 80, "p": 60},
    contenders=(
        Contender(VERIDICAL, ours.fit("relieff", n_features_to_select=50)),
        Contender(
            "fast-select",
            theirs.fast_select_relieff,
            check=_SAME_WEIGHTS,
            differs="finds neighbours in single precision",
        ),
        Contender("scikit-feature", theirs.skfeature_relieff, check=_SAME_WEIGHTS),
        Contender(
            "skrebate",
            theirs.skrebate_relieff,
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
        Contender(VERIDICAL, ours.rank_many("relieff", n_features_to_select=50)),
        Contender(
            "veridical, ten fits",
            ours.fit_each("relieff", n_features_to_select=50),
            check=same_order(),
        ),
        Contender(
            "fast-select, ten fits",
            theirs.fast_select_relieff_each,
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
        Contender(VERIDICAL, ours.fit("information-gain")),
        Contender(
            "Weka",
            weka.evaluator("InfoGainAttributeEval"),
            prepare=weka.numbers,
            check=close_scores(),
            own_processes=True,
        ),
        Contender(
            "scikit-learn",
            theirs.sklearn_mutual_information,
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
        Contender(VERIDICAL, ours.fit_codes("information-gain")),
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
            theirs.sklearn_mutual_information_of_codes,
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
        Contender(VERIDICAL, ours.select("fcbf", n_features_to_select=None)),
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
            theirs.skfeature_fcbf,
            prepare=theirs.discretized,
            check=same_set(),
            differs="gets the columns discretised beforehand (not timed), and cuts the "
            "relevance of its candidates to whole numbers, so that it takes them by "
            "index, not by relevance",
        ),
    ),
    aims=(Faster(VERIDICAL, "Weka, relevance alone", 5, recorded=1.5),),
)

_PRODUCTS = Contender(
    "the products alone",
    theirs.products,
    prepare=theirs.standardized,
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
        Contender(VERIDICAL, ours.fit("mrmr", n_features_to_select=100)),
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
            theirs.mrmr_selection_one_job,
            prepare=theirs.as_frame,
            check=same_order(100),
        ),
        Contender(
            "mrmr_selection, default",
            theirs.mrmr_selection_default,
            prepare=theirs.as_frame,
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
        Contender(VERIDICAL, ours.fit("ddp", n_features_to_select=100)),
        _PRODUCTS,
    ),
    aims=(Faster(VERIDICAL, "the products alone", 0.5),),
    notes="No other package has this selector.",
)

SVM_RFE = Case(
    name="svm-rfe",
    title="SVM-RFE, one feature a round, ten of 9000 left",
    make=problems.normal,
    size={"n": 150, "p": 9000},
    small={"n": 60, "p": 120},
    contenders=(
        Contender(VERIDICAL, ours.fit("svm-rfe", n_features_to_select=10, step=1)),
        Contender(
            "scikit-learn",
            elimination.sklearn_rfe,
            prepare=elimination.with_path,
            check=same_elimination(10, 0.9),
        ),
    ),
    aims=(Faster(VERIDICAL, "scikit-learn", 20),),
    notes="scikit-learn: `RFE(SVC(kernel='linear'), step=1)`, whose solver stops at a "
    "tolerance of 0.001, so that features of nearly equal weight may change places.",
)

ANOVA = Case(
    name="anova",
    title="F ratio",
    make=problems.normal,
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender(VERIDICAL, ours.fit("anova")),
        Contender("scikit-learn", theirs.sklearn_anova, check=close_scores(rtol=1e-7)),
    ),
    aims=(Faster(VERIDICAL, "scikit-learn", 1),),
    notes="`SelectKBest(f_classif)`.",
)


def _rank_many(name: str, parameters: dict[str, object]) -> Case:
    aim = MANY_AIMS.get(name)
    return Case(
        name=f"rank-many-{name}",
        title=f"Ten training sets at once: {name}",
        make=partial(problems.normal, n_folds=10),
        size={"n": 200, "p": 10000},
        small={"n": 60, "p": 60},
        contenders=(
            Contender("one fit", ours.fit(name, **parameters)),
            Contender("ten fits", ours.fit_each(name, **parameters)),
            Contender(
                "rank_many",
                ours.rank_many(name, **parameters),
                check=same_order(),
                compared_with="ten fits",
            ),
        ),
        aims=() if aim is None else (Faster("rank_many", "one fit", 1 / aim),),
        notes="One fit is on all rows, ten fits and `rank_many` on the training sets "
        "of ten-fold cross-validation."
        + "".join(f" {key}={value!r}." for key, value in parameters.items()),
    )


MEMORY = Case(
    name="memory",
    title="Memory beside X",
    make=problems.normal,
    size={"n": 200, "p": 100000},
    small={"n": 60, "p": 2000},
    contenders=tuple(
        Contender(name, ours.fit(name, **parameters))
        for name, parameters in EVERY.items()
    ),
    aims=tuple(Lean(name) for name in EVERY),
    notes="Ratios of time are to the first row and compare different methods.",
)

COMPARE = Case(
    name="compare",
    title="ReliefF against FCBF by ten folds, inside and outside, linear SVM",
    make=partial(problems.normal, n_folds=10),
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender(VERIDICAL, comparison.compare_selectors),
        Contender(
            "Pipelines of veridical's selectors",
            comparison.pipelines_of_ours,
            check=comparison.same_accuracy(0.01),
        ),
        Contender(
            "Pipeline with skrebate",
            comparison.skrebate_inside,
            check=comparison.same_accuracy(0.05),
            differs="does a quarter of the work: ReliefF alone, inside the folds",
            own_processes=True,
        ),
    ),
    aims=(Faster(VERIDICAL, "Pipeline with skrebate", 20),),
    notes="`compare`, against `cross_val_score` of a Pipeline of selector, "
    "`MinMaxScaler` and `SVC(kernel='linear')` on the same folds.",
)

ENGINE = Case(
    name="engine",
    title="A study through the experiment engine",
    make=engine.study,
    size={"n": 125, "p": 60},
    small={"n": 125, "p": 60},
    contenders=(
        Contender("the work alone", engine.work_alone),
        Contender(
            "with the engine", engine.with_engine, check=close_scores(rtol=1e-15)
        ),
        Contender(
            "with a worker process",
            engine.with_a_worker,
            check=close_scores(rtol=1e-15),
            own_processes=True,
        ),
    ),
    aims=(
        Faster("with the engine", "the work alone", 1 / 1.1),
        Faster("with a worker process", "the work alone", 1 / 1.1),
    ),
    notes="The smoke scale of the study in-vs-out: planning, keys, checksums and a "
    "store on disk come on top of the work, and in the last row a worker process, as "
    "veridical study run uses one.",
)

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        RELIEFF,
        RELIEFF_FOLDS,
        INFORMATION_GAIN,
        INFORMATION_GAIN_BINNED,
        FCBF,
        MRMR,
        DDP,
        DDP_PATH,
        NESTED,
        SVM_RFE,
        ANOVA,
        *(_rank_many(name, parameters) for name, parameters in EVERY.items()),
        MEMORY,
        COMPARE,
        *estimation.CASES,
        *bias_corrected.CASES,
        *lufe.CASES,
        ENGINE,
    )
}


def find(names: list[str]) -> list[Case]:
    """Cases by name or by the beginning of a name; all for no names.

    Raises
    ------
    ValueError
        For a name no case begins with; the message lists the cases.
    """
    found: dict[str, Case] = {} if names else dict(CASES)
    for name in names:
        exact = {name: CASES[name]} if name in CASES else {}
        begun = exact or {n: c for n, c in CASES.items() if n.startswith(name)}
        if not begun:
            raise ValueError(f"no case {name!r}; there are {', '.join(CASES)}")
        found |= begun
    return list(found.values())
