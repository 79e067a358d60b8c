"""What was selected, and how good the whole procedure is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from veridical._records.base import DataSummary, Interval
from veridical._records.looking import OnAPage


@dataclass(frozen=True)
class SelectedFeature:
    """A feature of the selected set.

    Parameters
    ----------
    index : int
        Its column, from 0.
    name : str
        What it is called.
    score : float or None
        By itself, where the selector has such a score.
    n_folds : int
        In how many folds it was selected as well.
    """

    index: int
    name: str
    score: float | None
    n_folds: int


@dataclass(frozen=True)
class ClassResult:
    """How one class fared: cases tested, and the share of them named rightly."""

    name: str
    n_test: int
    accuracy: float


@dataclass(frozen=True, repr=False)
class Selection(OnAPage):
    """Selected features, with the accuracy of selecting and learning as a whole.

    Parameters
    ----------
    data : DataSummary
        The data set or the source.
    selector, learner : str
        Display names.
    features : tuple of SelectedFeature
        Selected on all cases, best first.
    accuracy : Interval
        By cross-validation with everything that sees labels inside the folds, with
        its 95 % interval.
    n_test, n_folds : int
        Cases tested, and folds.
    classes : tuple of ClassResult
        The same cases, class by class.
    sizes, size_accuracy : tuple
        Numbers of the leading features, and the accuracy with them, on the same folds.
    paths : mapping of str to tuple of float
        What the selector says of its first 1, 2, 3, … features.
    alphas, alpha_accuracy : tuple of float
        Where an exponent was chosen: what was tried on all cases, and what came of it.
    alpha : float or None
        The exponent used on all cases.
    fold_alphas : tuple of float
        The exponent chosen in each fold.
    interval : str
        Kind of the interval of `accuracy`: the one whose measured coverage is closest
        to nominal, see `veridical.estimation.default_interval`.
    notes : tuple of str
        What a reader must know, in sentences.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    _drawn_by: ClassVar[str] = "veridical.report.selection"

    data: DataSummary
    selector: str
    learner: str
    features: tuple[SelectedFeature, ...]
    accuracy: Interval
    n_test: int
    n_folds: int
    classes: tuple[ClassResult, ...]
    sizes: tuple[int, ...]
    size_accuracy: tuple[float, ...]
    paths: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    alphas: tuple[float, ...] = ()
    alpha_accuracy: tuple[float, ...] = ()
    alpha: float | None = None
    fold_alphas: tuple[float, ...] = ()
    interval: str = "wilson"
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = [feature.name for feature in self.features[:5]]
        more = len(self.features) - len(names)
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        value, low, high = self.accuracy
        accuracy = f"accuracy {value:.3f} ({low:.3f} to {high:.3f})"
        return f"Selection({self.selector}: {listed}; {accuracy})"
