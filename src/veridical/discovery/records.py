"""The record of a discovery: every feature with its evidence, and those to claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Conclusion, DataSummary, Record, Setting

if TYPE_CHECKING:
    import pandas as pd

#: What is claimed about a feature.
Claim = Literal["association", "conditional", "stable"]
#: The error rate that is controlled.
ErrorRate = Literal["fdr", "fwer", "pfer"]
#: How the claim is tested.
ClaimMethod = Literal["permutation", "knockoffs", "dcrt", "pairs", "decoys"]

#: A feature comes close if its adjusted value is at most this many times the rate.
CLOSE = 3.0
#: A feature is in the consensus if more than this share of the halves selects it.
CONSENSUS = 0.5
#: False coverage rate of the intervals of effects, where the rate that was asked for is
#: not the false discovery rate.
_FALSE_COVERAGE = 0.05


def false_coverage_rate(rate: ErrorRate, level: float) -> float:
    """Return the largest expected share of claimed features whose interval misses.

    Parameters
    ----------
    rate : {"fdr", "fwer", "pfer"}
        The error rate that is controlled.
    level : float
        Its nominal value.
    """
    return level if rate == "fdr" else _FALSE_COVERAGE


def miss_probability(false_coverage: float, n_claimed: int, n_features: int) -> float:
    """Return the probability at which each interval of an effect misses it.

    Of R claimed features among p, that is ``R false_coverage / p``: then the expected
    share of claimed features whose interval misses the effect is at most
    `false_coverage` [1]_.

    Parameters
    ----------
    false_coverage : float
        As `false_coverage_rate` returns it.
    n_claimed, n_features : int
        R and p.

    References
    ----------
    .. [1] Y. Benjamini & D. Yekutieli, "False discovery rate-adjusted multiple
       confidence intervals for selected parameters", Journal of the American
       Statistical Association 100 (2005).
    """
    return max(min(false_coverage * max(n_claimed, 1) / n_features, 1.0), 1e-12)


class MeasuredRate(NamedTuple):
    """How often claims were false in designs like the user's, measured.

    Parameters
    ----------
    nominal : float
        The nominal rate.
    rate, low, high : float
        Median measured rate over the designs nearest to these data, the least and the
        most.
    n_designs : int
        Number of these designs.
    n_sets : int
        Number of data sets of each, at least.
    design : str
        What the designs have in common with these data, in words.
    holds : bool
        Whether the assumptions of the method hold in all of them.
    near : bool
        Whether designs of this kind and size were measured at all.
    """

    nominal: float
    rate: float
    low: float
    high: float
    n_designs: int
    n_sets: int
    design: str
    holds: bool
    near: bool


class StabilityPath(NamedTuple):
    """Share of halves that select a feature, for each number of features selected."""

    feature: int
    sizes: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Discoveries(Record):
    """Which features may be claimed, at a stated error rate.

    Parameters
    ----------
    data : DataSummary
        The data set.
    selector : str
        Display name of the score or selector.
    claim : {"association", "conditional", "stable"}
        What is claimed of a feature.
    method : {"permutation", "knockoffs", "dcrt", "pairs", "decoys"}
        How it is tested.
    rate : {"fdr", "fwer", "pfer"}
        The error rate: expected share of false claims, probability of any, or expected
        number.
    level : float
        Nominal value of the rate.
    frequency : array of shape (n_features,)
        Share of halves of the samples (for knockoffs: of draws) that select a feature;
        NaN where it was not computed.
    statistic : array of shape (n_features,)
        Score of the selector, difference of importance (knockoffs), or partial
        correlation (dcrt).
    pvalue : array of shape (n_features,)
        p-value of each feature by itself; NaN where the method has none.
    qvalue : array of shape (n_features,)
        The smallest nominal rate at which each feature would be claimed.
    effect, effect_low, effect_high : arrays of shape (n_features,)
        Difference of means of two classes, or correlation with a number, and for
        claimed features its interval; NaN where none is valid.
    effect_kind : str
        What the effect is, in words; "" without one.
    paths : tuple of StabilityPath
        For the leading features.
    threshold : float
        Threshold on the frequency, where there is one; else NaN.
    measured : MeasuredRate or None
        The rate in simulated designs like these data.
    tested, not_said : str
        The hypothesis that was tested, and what a claim does not say.
    notes : tuple of str
        What a reader must know.
    warnings : tuple of str
        Assumptions that these data seem to violate.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary
    selector: str
    claim: Claim
    method: ClaimMethod
    rate: ErrorRate
    level: float
    frequency: FloatArray
    statistic: FloatArray
    pvalue: FloatArray
    qvalue: FloatArray
    effect: FloatArray
    effect_low: FloatArray
    effect_high: FloatArray
    effect_kind: str = ""
    paths: tuple[StabilityPath, ...] = ()
    threshold: float = float("nan")
    measured: MeasuredRate | None = None
    tested: str = ""
    not_said: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def _conclude(self) -> Conclusion:
        """Decide what may be claimed."""
        room = import_module("veridical.discovery.conclusions")
        found: Conclusion = room.conclude(self)
        return found

    @property
    def claimed(self) -> IntArray:
        """Indices of the features that may be claimed, ascending."""
        return np.flatnonzero(self.qvalue <= self.level * (1 + 1e-12))

    @property
    def close(self) -> IntArray:
        """Indices of the features that come close, the closest first."""
        near = (self.qvalue > self.level * (1 + 1e-12)) & (
            self.qvalue <= CLOSE * self.level
        )
        if self.rate != "pfer":
            near &= self.qvalue < 1.0
        found = np.flatnonzero(near)
        return found[np.argsort(self.qvalue[found], kind="stable")]

    @property
    def consensus(self) -> IntArray:
        """Indices of the features that most halves of the samples select."""
        with np.errstate(invalid="ignore"):
            return np.flatnonzero(self.frequency > CONSENSUS)

    @property
    def false_coverage(self) -> float:
        """Largest expected share of claimed features whose interval misses."""
        return false_coverage_rate(self.rate, self.level)

    @property
    def effect_confidence(self) -> float:
        """Confidence of the interval of each claimed feature."""
        n_claimed, n_features = self.claimed.size, self.data.n_features
        return 1 - miss_probability(self.false_coverage, n_claimed, n_features)

    @property
    def ranked(self) -> IntArray:
        """All features from the strongest evidence to the weakest."""
        size = np.where(np.isnan(self.statistic), -np.inf, np.abs(self.statistic))
        if self.method == "knockoffs":
            size = np.where(np.isnan(self.statistic), -np.inf, self.statistic)
        often = np.nan_to_num(self.frequency)
        first = np.nan_to_num(self.pvalue, nan=1.0)
        return np.lexsort((-size, -often, first, self.qvalue))

    def evidence(self, feature: int) -> str:
        """Write the evidence for a feature.

        Parameters
        ----------
        feature : int
            Index of the feature.
        """
        conclusions = import_module("veridical.discovery.conclusions")
        said: str = conclusions.say_evidence(self, feature)
        return said

    def __repr__(self) -> str:
        names = [self.data.feature_names[j] for j in self.claimed[:5]]
        more = f", … ({self.claimed.size})" if self.claimed.size > 5 else ""
        found = ", ".join(names) + more if names else "none"
        return (
            f"Discoveries({self.claim}, {self.rate}={self.level:g}, "
            f"{self.method}: {found})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per feature, in the order of the data.

        Returns
        -------
        DataFrame
            Columns feature, frequency, statistic, pvalue, qvalue, claimed, effect, low,
            high.
        """
        import pandas as pd

        claimed = np.zeros(self.qvalue.size, dtype=bool)
        claimed[self.claimed] = True
        return pd.DataFrame(
            {
                "feature": list(self.data.feature_names),
                "frequency": self.frequency,
                "statistic": self.statistic,
                "pvalue": self.pvalue,
                "qvalue": self.qvalue,
                "claimed": claimed,
                "effect": self.effect,
                "low": self.effect_low,
                "high": self.effect_high,
            }
        )

    def annotate(self, adata: Any, key: str = "veridical") -> None:
        """Write the evidence for every feature to ``adata.var`` of an AnnData object.

        Parameters
        ----------
        adata : AnnData
            What was passed to `discover`.
        key : str, default="veridical"
            Beginning of the names of the columns: ``{key}_claimed``,
            ``{key}_statistic``, ``{key}_pvalue``, ``{key}_qvalue`` and
            ``{key}_frequency``.
        """
        table = self.to_frame()
        ends = ("claimed", "statistic", "pvalue", "qvalue", "frequency")
        columns = {end: table[end].to_numpy() for end in ends}
        self.data.annotate(adata, columns, key)
