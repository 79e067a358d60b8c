"""Which features may be claimed: the verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.defaults import default_n_features
from veridical._core.errors import InputError
from veridical._core.parallel import one_thread
from veridical._core.progress import ProgressLike
from veridical._core.reading import read_table
from veridical._core.repeating import repeatable
from veridical._core.seeds import root_seed, seeded
from veridical._core.table import Table
from veridical._core.text import listing, one_line
from veridical._core.types import (
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    SelectorLike,
)
from veridical._core.validation import check_count
from veridical.discovery import multiplicity
from veridical.discovery.bounds import Assumption, least_threshold, most_selected
from veridical.discovery.conclusions import HYPOTHESES
from veridical.discovery.conditional import (
    LassoImportance,
    RidgeImportance,
    SvmImportance,
    distilled_test,
    draw_knockoffs,
    responses,
)
from veridical.discovery.knockoffs import Construction
from veridical.discovery.likeness import Look, find_rate, look_at
from veridical.discovery.permutation_pvalues import (
    Tick,
    fixed_pvalues,
    sequential_pvalues,
)
from veridical.discovery.permuting import draw_pairs, make_permutations
from veridical.discovery.records import (
    Claim,
    ClaimMethod,
    Discoveries,
    ErrorRate,
    MeasuredRate,
    StabilityPath,
    false_coverage_rate,
    miss_probability,
)
from veridical.discovery.stable import (
    Shares,
    add_decoys,
    decoy_qvalues,
    double_features,
    expected_false,
    select_halves,
)
from veridical.evaluation.arguments import label_of, read_selector
from veridical.evaluation.engine import fit_selector, rank, scores_of
from veridical.kernels.statistics import benjamini_hochberg
from veridical.selection import MultiSURF, ReliefF

#: Methods of each claim; the first is the default.
CLAIM_METHODS: dict[Claim, tuple[ClaimMethod, ...]] = {
    "association": ("permutation",),
    "conditional": ("dcrt", "knockoffs"),
    "stable": ("pairs", "decoys"),
}
#: Importances that are coefficients of a linear model, beside all selectors.
COEFFICIENTS = ("lasso", "ridge", "svm")
#: Threshold on the share of halves from which the number of features follows.
THRESHOLD = 0.75
#: Permutations where all features are tested together.
N_PERMUTATIONS = 999
#: Most permutations of a feature.
MOST_PERMUTATIONS = 200_000
#: Leading features whose stability paths are kept, and places of a path.
_N_PATHS, _N_PLACES = 40, 12
#: Scores that compare a feature with its own permutations, see their notes.
_OWN_NULL = (ReliefF, MultiSURF)


@repeatable
def discover(
    X: MatrixLike,
    y: LabelsLike,
    *,
    selector: SelectorLike | None = None,
    claim: Claim = "association",
    fdr: float | None = None,
    pfer: float | None = None,
    fwer: float | None = None,
    method: Literal["auto"] | ClaimMethod = "auto",
    correction: Literal["bh", "by"] = "bh",
    n_features_to_select: int | None = None,
    n_permutations: int | None = None,
    n_pairs: int = 50,
    n_draws: int = 20,
    assumption: Assumption = "unimodal",
    construction: Construction = "auto",
    groups: Any = None,
    strata: Any = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    name: str | None = None,
    layer: str | None = None,
    progress: ProgressLike = None,
) -> Discoveries:
    """Find the features that may be claimed at a stated error rate.

    Three claims are possible; they are different hypotheses. *Association*: the feature
    and the outcome depend on each other. *Conditional*: they do so given all other
    features. *Stable*: the procedure selects the feature again and again on halves of
    the samples.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The data; also AnnData, and data that are read by blocks (see
        `veridical.datasets.by_blocks`).
    y : array-like of shape (n_samples,)
        The outcome; of AnnData also a column of obs, as are `groups` and
        `sample_weight`.
    selector : str, selector or None, default=None
        The score of a feature: a key of ``veridical.selection.SELECTORS`` or a
        selector. For knockoffs also "lasso", "ridge" or "svm", the coefficients of a
        linear model. None is "anova", "information-gain" with categorical features or
        missing values, or "cox-score" for survival times; for conditional claims the
        lasso.
    claim : {"association", "conditional", "stable"}, default="association"
        What is claimed.
    fdr, pfer, fwer : float
        The error rate; give one of them: the expected share of false claims among all
        claims, the expected number of false claims, or the probability of any false
        claim. The default is ``fdr=0.1``, and ``pfer=1`` for stable claims.
    method : str, default="auto"
        For conditional claims "dcrt", the distilled conditional randomization test, or
        "knockoffs" (the default where a selector is given). For stable claims "pairs",
        complementary pairs with a bound on the expected number of false selections, or
        "decoys", permuted copies of the features, a heuristic (the default for `fdr`).
    correction : {"bh", "by"}, default="bh"
        For `fdr` with p-values: Benjamini and Hochberg's rule, which holds for
        independent and positively dependent features, or Benjamini and Yekutieli's,
        which holds for any dependence and claims less.
    n_features_to_select : int or None, default=None
        Stable claims: how many features a half selects at most. None takes the most
        for which a threshold of 0.75 keeps the rate.
    n_permutations : int or None, default=None
        Association: permutations of the outcome, the same for every feature. None
        permutes until each p-value is known well enough; 999 times for `fwer`, and for
        scores that depend on all features.
    n_pairs : int, default=50
        Number of complementary pairs of halves; 0 computes no frequencies where the
        claim does not need them.
    n_draws : int, default=20
        Draws of knockoffs; their e-values are averaged, so that the answer does not
        depend on the luck of one draw.
    assumption : {"unimodal", "r-concave", "none"}, default="unimodal"
        Of the bound for complementary pairs; see
        :func:`veridical.discovery.false_selections`.
    construction : {"auto", "equicorrelated", "entropy"}, default="auto"
        How knockoffs are constructed; see
        :func:`veridical.discovery.gaussian_knockoffs`.
    groups : array-like of shape (n_samples,), str or list of str, optional
        Samples that belong together, such as those of one patient, or columns of X
        that say so: units of permutations and halves.
    strata : array-like of shape (n_samples,), optional
        Association: outcomes are exchanged inside strata only.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples, where the selector takes them.
    random_state : int, numpy random generator or None, default=None
        Source of all random numbers.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    name : str, optional
        Name of the data.
    layer : str, optional
        Of AnnData, the layer to use instead of X.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` while the work goes on; False is silent.

    Returns
    -------
    Discoveries
        ``claimed``, the indices of the features that may be claimed, and the evidence
        for every feature (``to_frame()``).

    Raises
    ------
    InputError
        For data or parameters that do not allow a valid answer.

    See Also
    --------
    veridical.select : The accuracy of a selection.
    veridical.audit : Whether an accuracy may be believed.

    References
    ----------
    .. [1] P. H. Westfall & S. S. Young, "Resampling-Based Multiple Testing", 1993.
    .. [2] E. Candès, Y. Fan, L. Janson & J. Lv, "Panning for gold", Journal of the
       Royal Statistical Society B 80 (2018).
    .. [3] M. Liu, E. Katsevich, L. Janson & A. Ramdas, "Fast and powerful conditional
       randomization testing via distillation", Biometrika 109 (2022).
    .. [4] R. D. Shah & R. J. Samworth, "Variable selection with error control: another
       look at stability selection", Journal of the Royal Statistical Society B 75
       (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical import discover
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 40)
    >>> X = rng.normal(size=(80, 100))
    >>> X[:, [3, 7]] += 1.5 * (y == "ill")[:, None]
    >>> discover(X, y, fdr=0.1, random_state=0).claimed
    array([3, 7])
    """
    table = read_table(
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        name=name,
        blocks=True,
        layer=layer,
    )
    rate, level = _read_rate(claim, fdr=fdr, pfer=pfer, fwer=fwer)
    how = _read_method(claim, method, rate, selector)
    root = root_seed(random_state)
    for text, value, least in (("n_pairs", n_pairs, 0), ("n_draws", n_draws, 1)):
        check_count(text, value, least)
    given = _default_selector(table, how) if selector is None else selector
    chosen: Any = given
    if not (how in ("dcrt", "knockoffs") and given in COEFFICIENTS):
        chosen = seeded(read_selector(given), root)
        if "n_jobs" in getattr(chosen, "get_params", dict)():
            chosen.set_params(n_jobs=n_jobs)
    if strata is not None and claim != "association":
        raise InputError(
            f"{_option('strata')} says where outcomes are exchanged, which "
            f"{_option('claim', claim)} does not do; leave {_option('strata')} out, or "
            f"use {_option('claim', 'association')}."
        )
    task = _Discovery(
        table=table,
        selector=chosen,
        rate=rate,
        level=level,
        method=how,
        root=root,
        n_pairs=int(n_pairs),
        tick=progress if callable(progress) else None,
    )
    with one_thread():
        if how == "permutation":
            found = _associate(task, correction, n_permutations, strata)
        elif how == "dcrt":
            found = _distil(task, correction)
        elif how == "knockoffs":
            found = _compare_with_knockoffs(task, int(n_draws), construction)
        elif how == "pairs":
            found = _repeat_on_halves(task, n_features_to_select, assumption)
        else:
            found = _compare_with_decoys(task, n_features_to_select)
    look = look_at(table)
    own_null = isinstance(chosen, _OWN_NULL) and how == "permutation"
    tested, not_said = HYPOTHESES["own" if own_null else claim]
    if found.inside:
        tested = tested.replace(": ", f": {found.inside}, ", 1)
    empty = np.full(table.n_features, np.nan)
    measured = _find_rate(task, look)
    given_too = {
        "groups": table.groups,
        "strata": strata,
        "sample weights": table.weights,
    }
    unlike = [name for name, value in given_too.items() if value is not None]
    if measured is not None and unlike:
        found.notes.append(f"The rate was measured without {listing(unlike)}.")
    return Discoveries(
        data=table.summary(name),
        selector=label_of(given),
        claim=claim,
        method=how,
        rate=rate,
        level=level,
        **{**dict.fromkeys(_ARRAYS, empty), **found.arrays},
        effect_kind=found.effect_kind,
        paths=found.paths,
        threshold=found.threshold,
        measured=measured,
        tested=tested,
        not_said=not_said,
        notes=tuple(found.notes),
        warnings=tuple(look.warnings(how, own_null=own_null)),
        settings={
            "selector": given if isinstance(chosen, str) else one_line(chosen),
            **found.settings,
            "random_state": root,
            "table sha256": table.sha256(),
        },
    )


_ARRAYS = (
    "frequency",
    "statistic",
    "pvalue",
    "qvalue",
    "effect",
    "effect_low",
    "effect_high",
)


@dataclass(frozen=True, eq=False)
class _Discovery:
    """What is asked for."""

    table: Table
    selector: Any
    rate: ErrorRate
    level: float
    method: ClaimMethod
    root: int
    n_pairs: int
    tick: Tick | None

    @property
    def own(self) -> bool:
        """Whether the selector is one of ours, which shares work."""
        return hasattr(self.selector, "score_table")

    def scores(self, orders: IntArray, columns: IntArray) -> FloatArray:
        """Score some features for outcomes in other orders."""
        if self.own:
            return self.selector.score_table(self.table, orders, columns)
        rows = [_score_once(self.selector, self.table.permuted(o)) for o in orders]
        return np.stack(rows)[:, columns]

    def tick_after(self, before: int, after: int = 0) -> Tick | None:
        """Return `tick` for a part of the work, with other parts around it."""
        tick = self.tick
        if tick is None:
            return None
        return lambda done, total: tick(before + done, before + total + after)

    def lead(
        self, table: Table, halves: Sequence[IntArray], n_features: int
    ) -> list[IntArray]:
        """Find the first features of every half."""
        if hasattr(self.selector, "lead_table"):
            return self.selector.lead_table(table, halves, n_features)
        found = rank(self.selector, table, list(halves), n_features)
        return [ranked.order[:n_features] for ranked in found]


@dataclass
class _Evidence:
    """What a method found; arrays by the names of the record."""

    arrays: dict[str, FloatArray]
    notes: list[str]
    settings: dict[str, Any]
    paths: tuple[StabilityPath, ...] = ()
    threshold: float = float("nan")
    effect_kind: str = ""
    inside: str = ""  # where the hypothesis is tested, if not among all samples


# -- what was asked for ----------------------------------------------------------------


def _option(name: str, value: Any = None) -> str:
    """Write a parameter, or the option of the command line."""
    if value is None:
        return for_users(name, f"--{name}")
    return for_users(f"{name}={value!r}", f"--{name} {value}")


def _codes(given: Any, n_samples: int, what: str) -> IntArray:
    """Return numbers of groups or strata; raise unless there is one for each sample."""
    values = np.asarray(given)
    if values.shape != (n_samples,):
        raise InputError(
            f"{what} has shape {values.shape}, but there are {n_samples} samples; give "
            "one label for each sample."
        )
    codes = pd.factorize(values)[0].astype(np.intp)
    if (codes < 0).any():
        raise InputError(f"{what} has missing values; give every sample a label.")
    return codes


def _read_rate(claim: str, **given: float | None) -> tuple[ErrorRate, float]:
    """Return the one error rate that was given, or the default of the claim."""
    if claim not in CLAIM_METHODS:
        raise InputError(
            f"claim={claim!r} is not known; use 'association', 'conditional' or "
            "'stable'."
        )
    asked = {key: value for key, value in given.items() if value is not None}
    if len(asked) > 1:
        raise InputError(
            f"{' and '.join(map(_option, asked))} are given together; give one of "
            f"{_option('fdr')}, {_option('pfer')} and {_option('fwer')}."
        )
    if not asked:
        asked = {"pfer": 1.0} if claim == "stable" else {"fdr": 0.1}
    ((rate, value),) = asked.items()
    good = isinstance(value, Real) and np.isfinite(value) and float(value) > 0
    if not good or (rate != "pfer" and float(value) >= 1):
        most = "" if rate == "pfer" else " and below 1"
        raise InputError(f"{_option(rate, value)} must be a number above 0{most}.")
    return rate, float(value)  # type: ignore[return-value]


def _read_method(
    claim: Claim, method: str, rate: ErrorRate, selector: Any
) -> ClaimMethod:
    known = CLAIM_METHODS[claim]
    if method == "auto":
        if claim == "stable":
            return "decoys" if rate == "fdr" else "pairs"
        if claim == "conditional":
            plain = selector is None or rate != "fdr"
            return "dcrt" if plain else "knockoffs"
        return known[0]
    if method not in known:
        *first, last = map(repr, ("auto", *known))
        raise InputError(
            f"{_option('method', method)} does not test {_option('claim', claim)}; use "
            f"{', '.join(first)} or {last}."
        )
    if method == "knockoffs" and rate != "fdr":
        raise InputError(
            f"{_option('method', method)} controls the false discovery rate, not "
            f"{rate}; give {_option('fdr')}, or use {_option('method', 'dcrt')}."
        )
    if method == "decoys" and rate != "fdr":
        raise InputError(
            f"{_option('method', method)} estimates the false discovery rate, not "
            f"{rate}; give {_option('fdr')}, or use {_option('method', 'pairs')}."
        )
    if method == "pairs" and rate == "fdr":
        raise InputError(
            f"{_option('method', method)} bounds the expected number of false claims, "
            f"not their share; give {_option('pfer')} or {_option('fwer')}, or use "
            f"{_option('method', 'decoys')}."
        )
    return method


def _default_selector(table: Table, method: ClaimMethod) -> str:
    if method in ("dcrt", "knockoffs"):
        return "lasso"
    if table.kind == "survival":
        return "cox-score"
    gaps = table.categorical.any() or table.has_missing
    return "information-gain" if gaps else "anova"


def _find_rate(task: _Discovery, look: Look) -> MeasuredRate | None:
    """Find the rate that was measured in designs like these data."""
    score = task.selector
    score = score if isinstance(score, str) else type(score).__name__
    return find_rate(look, task.method, score, task.rate, task.level)


def _score_once(selector: Any, table: Table) -> FloatArray:
    """Score the features by a selector of another package."""
    rows = np.arange(table.n_samples)
    fitted, ranked = fit_selector(selector, table, rows, None)
    scores = scores_of(fitted, table)
    if scores is not None:
        return scores
    score = np.zeros(table.n_features)
    score[ranked.order] = np.arange(len(ranked.order), 0, -1)
    return score


# -- association -----------------------------------------------------------------------


def _associate(
    task: _Discovery, correction: str, n_permutations: int | None, strata: Any
) -> _Evidence:
    table, p = task.table, task.table.n_features
    blocks = None if strata is None else _codes(strata, table.n_samples, "strata")
    permutations = make_permutations(table, blocks, task.root)
    if isinstance(task.selector, _OWN_NULL) and table.groups is not None:
        raise InputError(
            f"{type(task.selector).__name__} exchanges the values of features between "
            "samples, which those of one group do not allow; use a score of single "
            "features, such as 'anova'."
        )
    if n_permutations is not None:
        check_count("n_permutations", n_permutations, 1)
    n_halves = 2 * task.n_pairs if task.own else 0
    apart = task.own and task.selector.scores_apart
    fixed = n_permutations is not None or task.rate == "fwer" or not apart
    own_null = isinstance(task.selector, _OWN_NULL)
    n_ways = np.inf if own_null else permutations.permuter.n_ways
    most = N_PERMUTATIONS if n_permutations is None else int(n_permutations)
    if n_ways - 1 <= most:  # all of them take no longer, and depend on no draw
        most = int(n_ways) - 1
        permutations = permutations.enumerated()
    if fixed or permutations.exhaustive:
        tick = task.tick_after(0, n_halves)
        tested = fixed_pvalues(task.scores, p, permutations, most, tick)
    else:
        needed = p / task.level
        if correction == "by" and task.rate == "fdr":
            needed *= float((1.0 / np.arange(1, p + 1)).sum())
        most = int(np.clip(ceil(needed), N_PERMUTATIONS, MOST_PERMUTATIONS))
        tick = task.tick_after(0, n_halves)
        tested = sequential_pvalues(task.scores, p, permutations, most, tick)
    adjusted = _adjust(task.rate, tested.pvalues, correction)
    words = permutations.words
    if own_null:
        words = words.replace("Outcomes are", "The values of a feature are")
    notes = [words]
    blocks = table.groups if permutations.inside == "within groups" else blocks
    if blocks is not None:
        notes += _on_blocks(table, blocks, permutations.inside)
    if task.rate == "fwer":
        assert tested.adjusted is not None
        adjusted = tested.adjusted
        notes.append(
            "Adjusted p-values are those of Westfall and Young's step-down max-T "
            "procedure over the same permutations."
        )
    # Scores of ours treat classes alike.
    alike = task.own and table.kind == "classes" and np.isfinite(n_ways)
    n_each = round(permutations.permuter.n_renamings) if alike else 1
    notes += _on_resolution(task, most, n_ways, n_each)
    if task.own and not apart:
        notes.append(
            "The score of a feature depends on the other features, so its p-value is "
            "exact only if no feature depends on the outcome."
        )
    arrays = {
        "statistic": tested.observed,
        "pvalue": tested.pvalues,
        "qvalue": adjusted,
    }
    claimed = multiplicity.claim(adjusted, task.level)
    coverage = false_coverage_rate(task.rate, task.level)
    effects, kind = _effects(table, claimed, coverage)
    shares = _frequencies(task, claimed.size, task.tick_after(most))
    paths: tuple[StabilityPath, ...] = ()
    if shares is not None:
        n_selected = max(len(order) for order in shares.leading)
        arrays["frequency"] = shares.at(n_selected)
        strongest = np.lexsort((-tested.observed, tested.pvalues))
        paths = _paths(shares, n_selected, strongest)
    settings = {
        "permutations": int(tested.n_drawn.max(initial=0)),
        **_correction_words(task.rate, correction),
    }
    return _Evidence(
        {**arrays, **effects},
        notes,
        settings,
        paths,
        effect_kind=kind,
        inside=permutations.inside,
    )


def _on_blocks(table: Table, blocks: IntArray, inside: str) -> list[str]:
    """Say what an exchange inside blocks assumes, and cannot test."""
    notes = [
        f"Samples {inside} are taken for exchangeable; those of a series in time may "
        "resemble their neighbours, which makes p-values too small."
    ]
    order = np.argsort(blocks, kind="stable")
    starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    n_constant = 0
    if table.is_lazy:
        pieces = table.values.ranges()
    else:
        n_values = table.n_samples * table.n_features
        pieces = np.array_split(np.arange(table.n_features), 1 + (n_values >> 24))
    for columns in pieces:
        values = table.take(order, columns)
        low = np.fmin.reduceat(values, starts, axis=0)
        high = np.fmax.reduceat(values, starts, axis=0)
        n_constant += int((~(low < high)).all(axis=0).sum())
    if n_constant:
        do = "feature does" if n_constant == 1 else "features do"
        notes.append(
            f"{n_constant} {do} not vary {inside}: exchanging outcomes there says "
            "nothing about them, and their p-value is 1."
        )
    return notes


def _adjust(rate: ErrorRate, pvalues: FloatArray, correction: str) -> FloatArray:
    if correction not in ("bh", "by"):
        raise InputError(f"correction={correction!r} must be 'bh' or 'by'.")
    if rate == "pfer":
        return pvalues * pvalues.size
    if rate == "fwer":
        return multiplicity.holm(pvalues)
    if correction == "by":
        return multiplicity.benjamini_yekutieli(pvalues)
    return benjamini_hochberg(pvalues)


def _correction_words(rate: ErrorRate, correction: str) -> dict[str, str]:
    if rate != "fdr":
        return {}
    names = {"bh": "Benjamini-Hochberg", "by": "Benjamini-Yekutieli"}
    return {"correction": names[correction]}


def _on_resolution(
    task: _Discovery, n_drawn: int, n_ways: float, n_each: int
) -> list[str]:
    """Say so if permutations cannot give a p-value small enough for one claim.

    Features that stop early are no matter: `n_drawn` is the number that was allowed.
    `n_ways` is the number of different arrangements of the outcome, `n_each` how many
    of them have the same score, because classes of equal size are exchanged.
    """
    p, level = task.table.n_features, task.level
    needed = ceil((1 if task.rate == "fwer" else p) / level)
    n_scores = n_ways / n_each
    n = min(1 + n_drawn, n_scores)
    if n >= needed:
        return []
    fewest = ceil(p / (level * n))
    lost = f"a claim needs at least {fewest} features with it"
    if task.rate != "fdr" or fewest > p:
        lost = "no feature can be claimed"
    if n_scores <= 1 + n_drawn:
        same = ""
        if n_each > 1:
            same = (
                f", of which {n_each} each have the same scores, because classes have "
                "equal sizes"
            )
        return [
            f"Outcomes can be exchanged in {n_ways:.0f} different ways only{same}; so "
            f"the least p-value is {1 / n_scores:.2g}: {lost}. More samples, or "
            "groups, would allow more."
        ]
    option = for_users(f"n_permutations={needed - 1}", f"--permutations {needed - 1}")
    return [
        f"With {n_drawn} permutations the least p-value is {1 / (1 + n_drawn):.2g}: "
        f"{lost}. {needed - 1} permutations would allow a single claim ({option})."
    ]


def _frequencies(task: _Discovery, n_claimed: int, tick: Tick | None) -> Shares | None:
    """Count how often halves select the features; None where that is not asked for."""
    if not task.n_pairs or not task.own:
        return None
    n = max(n_claimed, default_n_features(task.table.n_features), 1)
    halves = draw_pairs(task.table, task.n_pairs, task.root)
    if not _are_usable(task.table, halves):
        return None
    return select_halves(task.table, halves, n, task.lead, tick)


def _effects(
    table: Table, claimed: IntArray, false_coverage: float
) -> tuple[dict[str, FloatArray], str]:
    """Compute effects, and intervals for the claimed ones."""
    tail = miss_probability(false_coverage, claimed.size, table.n_features) / 2
    if not table.is_lazy:
        return _where_known(*_effects_in_memory(table, claimed, tail))
    found: dict[str, list[FloatArray]] = {}
    kind = ""
    for columns in table.values.ranges():
        part = table.permute(columns)
        part = part.replace(features=part.features.load())
        own = np.flatnonzero(np.isin(columns, claimed))
        arrays, kind = _effects_in_memory(part, own, tail)
        for name, values in arrays.items():
            found.setdefault(name, []).append(values)
    whole = {name: np.concatenate(values) for name, values in found.items()}
    return _where_known(whole, kind)


def _where_known(
    arrays: dict[str, FloatArray], kind: str
) -> tuple[dict[str, FloatArray], str]:
    """Return effects and their kind, or none where no feature has one."""
    known = bool(arrays) and bool(np.isfinite(arrays["effect"]).any())
    return (arrays, kind) if known else ({}, "")


def _effects_in_memory(
    table: Table, claimed: IntArray, tail: float
) -> tuple[dict[str, FloatArray], str]:
    """Compute effects; `tail` is the probability on either side of an interval."""
    target: Any = table.target
    p, n = table.n_features, table.n_samples
    is_classes = table.kind == "classes"
    if (is_classes and table.n_classes != 2) or table.kind == "survival":
        return {}, ""
    if table.groups is not None or table.weights is not None or table.is_sparse:
        return {}, ""
    numeric = np.flatnonzero(~table.categorical)
    X = table.take(np.arange(n), numeric)
    complete = ~np.isnan(X).any(axis=0)
    numeric, X = numeric[complete], X[:, complete]
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_classes:
            a, b = X[target.codes == 0], X[target.codes == 1]
            if min(len(a), len(b)) < 2:
                return {}, ""
            value = b.mean(axis=0) - a.mean(axis=0)
            parts = a.var(axis=0, ddof=1) / len(a), b.var(axis=0, ddof=1) / len(b)
            error = np.sqrt(parts[0] + parts[1])
            df = error**4 / (
                parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1)
            )
            reach = stats.t.isf(tail, df) * error
            low, high = value - reach, value + reach
            first, second = map(str, target.classes)
            kind = f"difference of means, {second} minus {first}"
        else:
            numbers = np.asarray(target.labels, dtype=np.float64)
            centred = X - X.mean(axis=0)
            own = numbers - numbers.mean()
            value = own @ centred / np.sqrt((own @ own) * (centred**2).sum(axis=0))
            reach = stats.norm.isf(tail) / np.sqrt(max(n - 3, 1))
            middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
            low, high = np.tanh(middle - reach), np.tanh(middle + reach)
            kind = "correlation with the outcome"
    arrays = {}
    inside = np.isin(numeric, claimed)
    for name, values in (("", value), ("_low", low), ("_high", high)):
        full = np.full(p, np.nan)
        full[numeric] = values if not name else np.where(inside, values, np.nan)
        arrays[f"effect{name}"] = full
    return arrays, kind


# -- conditional -----------------------------------------------------------------------


def _numeric_features(task: _Discovery) -> FloatArray:
    """Return the features as numbers; raise for missing values and groups."""
    table = task.table
    if table.has_missing:
        raise InputError(
            "Conditional claims need a model of the features, which missing values do "
            "not allow; fill them in first "
            f"({for_users('SimpleImputer, say', '--impute median')}), or use "
            f"{_option('claim', 'association')} with a selector that takes missing "
            "values."
        )
    if table.groups is not None:
        raise InputError(
            "Conditional claims treat samples as independent, which those of one group "
            f"are not; use {_option('claim', 'association')} or 'stable', which keep "
            "groups together."
        )
    if table.weights is not None:
        raise InputError(
            f"Conditional claims take no {for_users('sample_weight', '--weights')}; "
            f"use {_option('claim', 'association')}."
        )
    return table.take(np.arange(table.n_samples), np.arange(table.n_features))


def _distil(task: _Discovery, correction: str) -> _Evidence:
    if task.selector != "lasso":
        raise InputError(
            f"{_option('method', 'dcrt')} distils by the lasso, but "
            f"{_option('selector')} is {label_of(task.selector)!r}; leave it out, or "
            f"use {_option('method', 'knockoffs')} with {_option('fdr')}."
        )
    X = _numeric_features(task)
    found = distilled_test(X, responses(task.table), task.root, task.tick)
    adjusted = _adjust(task.rate, found.pvalues, correction)
    n_tested = int(np.count_nonzero(found.pvalues < 1))
    notes = ["All features were tested."]
    if n_tested < X.shape[1]:
        notes = [
            f"{n_tested} of {X.shape[1]} features were tested: those of the lasso, and "
            "the next most correlated ones. The others have p = 1."
        ]
    settings = _correction_words(task.rate, correction)
    arrays = {
        "statistic": found.statistic,
        "pvalue": found.pvalues,
        "qvalue": adjusted,
    }
    return _Evidence(arrays, notes, settings)


def _compare_with_knockoffs(
    task: _Discovery, n_draws: int, construction: Construction
) -> _Evidence:
    X = _numeric_features(task)
    # Several draws need some room; half the rate is the choice of Ren and Barber.
    own_rate = task.level if n_draws == 1 else task.level / 2
    found = draw_knockoffs(
        X,
        _importance(task),
        own_rate,
        n_draws,
        task.root,
        construction=construction,
        tick=task.tick,
    )
    notes = [
        f"At this rate knockoffs cannot claim fewer than {ceil(1 / own_rate)} features "
        "at once."
    ]
    s = float(found.sampler.s.mean())
    notes.append(
        "The correlation of a feature with its knockoff is "
        f"{1 - s:.2f} on average; the smaller it is, the more can be found."
    )
    settings = {
        "draws of knockoffs": n_draws,
        "rate of each draw": own_rate,
        "shrinkage of correlations": round(found.sampler.rho, 4),
    }
    arrays = {
        "statistic": found.W,
        "qvalue": multiplicity.e_benjamini_hochberg(found.evalues),
        "frequency": found.frequency,
    }
    return _Evidence(arrays, notes, settings)


def _importance(task: _Discovery) -> Any:
    """Make the importance of features beside their knockoffs."""
    if isinstance(task.selector, str):
        R = responses(task.table)
        if task.selector == "lasso":
            return LassoImportance(R, task.root)
        if task.selector == "ridge":
            return RidgeImportance(R)
        return SvmImportance(task.table)

    def score(values: FloatArray, scores: FloatArray) -> FloatArray:
        p = task.table.n_features
        doubled = double_features(task.table, lambda _: values[:, p:], values[:, :p])
        if task.own:
            (found,) = task.selector.score_table(doubled)
            return found
        return _score_once(task.selector, doubled)

    return score


# -- stable ----------------------------------------------------------------------------


def _repeat_on_halves(
    task: _Discovery, n_features: int | None, assumption: Assumption
) -> _Evidence:
    p, level = task.table.n_features, task.level
    if task.n_pairs < 1:
        raise InputError("n_pairs=0 draws no halves; stable claims need 1 or more.")
    if n_features is None:
        n_selected = max(
            1, most_selected(level, THRESHOLD, p, task.n_pairs, assumption)
        )
    else:
        check_count("n_features_to_select", n_features, 1)
        n_selected = min(int(n_features), p)
    halves = _halves(task)
    shares = select_halves(task.table, halves, n_selected, task.lead, task.tick)
    frequency = shares.at(n_selected)
    qvalue = expected_false(frequency, n_selected, task.n_pairs, assumption)
    if task.rate == "fwer":  # P(V ≥ 1) ≤ E V
        qvalue = np.minimum(qvalue, 1.0)
    threshold = least_threshold(level, n_selected, p, task.n_pairs, assumption)
    notes = [
        f"Each half selects at most {n_selected} features; a feature is claimed if at "
        f"least {100 * threshold:.0f} % of {len(halves)} halves select it."
        if np.isfinite(threshold)
        else f"Each half selects at most {n_selected} features; no threshold keeps "
        "this rate: select fewer features, or allow more false claims."
    ]
    assumed = {
        "unimodal": "The bound assumes that the share of halves that select a noise "
        "feature has a unimodal distribution.",
        "r-concave": "The bound assumes that the share of halves that select a noise "
        "feature has an r-concave distribution.",
        "none": "The bound holds without assumptions about the distribution of shares.",
    }
    notes.append(assumed[assumption])
    settings = {
        "pairs of halves": task.n_pairs,
        "features per half": n_selected,
        "assumption": assumption,
    }
    threshold = threshold if np.isfinite(threshold) else float("nan")
    arrays = {"frequency": frequency, "qvalue": qvalue}
    return _with_scores(task, shares, n_selected, arrays, notes, settings, threshold)


def _compare_with_decoys(task: _Discovery, n_features: int | None) -> _Evidence:
    p = task.table.n_features
    if n_features is None:
        n_selected = max(1, min(p, int(np.ceil(np.sqrt(2 * p)))))
    else:
        check_count("n_features_to_select", n_features, 1)
        n_selected = min(int(n_features), p)
    doubled = add_decoys(task.table, task.root)
    halves = _halves(task)
    shares = select_halves(doubled, halves, n_selected, task.lead, task.tick)
    both = shares.at(n_selected)
    frequency, decoys = both[:p], both[p:]
    qvalue = decoy_qvalues(frequency, decoys)
    kept = frequency[qvalue <= task.level * (1 + 1e-12)]
    notes = [
        "The threshold compares features with permuted copies of them (decoys), as "
        "Stabl does. This is a heuristic: no theorem bounds the rate.",
        f"Each half selects at most {n_selected} features and decoys; "
        f"{int(np.count_nonzero(decoys))} of {p} decoys were selected at least once, "
        f"the most frequent one in {100 * float(decoys.max(initial=0)):.0f} % of the "
        "halves.",
    ]
    settings = {"pairs of halves": task.n_pairs, "features per half": n_selected}
    real = Shares([order[order < p] for order in shares.leading], p)
    threshold = float(kept.min()) if kept.size else float("nan")
    arrays = {"frequency": frequency, "qvalue": qvalue}
    return _with_scores(task, real, n_selected, arrays, notes, settings, threshold)


def _with_scores(
    task: _Discovery,
    shares: Shares,
    n_selected: int,
    arrays: dict[str, FloatArray],
    notes: list[str],
    settings: dict[str, Any],
    threshold: float,
) -> _Evidence:
    """Add the scores on all samples, and the paths of the leading features."""
    every = np.arange(task.table.n_samples)[None]
    statistic = task.scores(every, np.arange(task.table.n_features))[0]
    order = np.lexsort((-np.nan_to_num(statistic), -arrays["frequency"]))
    paths = _paths(shares, n_selected, order)
    arrays = {**arrays, "statistic": statistic}
    return _Evidence(arrays, notes, settings, paths, threshold)


def _halves(task: _Discovery) -> list[IntArray]:
    if task.n_pairs < 1:
        raise InputError("n_pairs=0 draws no halves; stable claims need 1 or more.")
    halves = draw_pairs(task.table, task.n_pairs, task.root)
    if not _are_usable(task.table, halves):
        raise InputError(
            f"{task.table.n_samples} samples are too few for halves; stable claims "
            "need at least 4 samples of each class, or as many groups."
        )
    return halves


def _are_usable(table: Table, halves: Sequence[IntArray]) -> bool:
    """Return whether every half has enough samples, with different outcomes."""
    return all(half.size >= 4 and not table.target.is_constant(half) for half in halves)


def _paths(
    shares: Shares, n_selected: int, order: IntArray
) -> tuple[StabilityPath, ...]:
    """Return the shares of the leading features for smaller numbers of features."""
    places = np.unique(np.rint(np.geomspace(1, max(n_selected, 1), _N_PLACES)))
    sizes = places.astype(int).tolist()
    features = order[:_N_PATHS]
    path = shares.path(sizes, features)
    return tuple(
        StabilityPath(int(j), tuple(sizes), tuple(map(float, path[:, i])))
        for i, j in enumerate(features)
    )
