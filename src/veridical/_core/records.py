"""Base class of all records, with intervals, conclusions and summaries of data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.targets import Kind
from veridical._core.text import number_repeated

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Ranking:
    """Features from best to worst, as ranked on one training set.

    Parameters
    ----------
    order : array of shape (n_features,)
        Every feature index once, best first.
    scores : array of shape (n_features,) or None
        Score per feature, larger is better; None where the method has no score.
    n_kept : int
        Number of leading features that the method itself would keep.
    """

    order: IntArray
    scores: FloatArray | None
    n_kept: int


#: One of two things compared: ``"a"`` is the first.
Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")

SettingValue = str | int | float
#: A setting of a record: text or a number, several of these, or settings by name.
Setting = (
    SettingValue
    | tuple[SettingValue, ...]
    | Mapping[str, SettingValue | tuple[SettingValue, ...]]
)


def write_setting(value: Any) -> str:
    """Write the value of a setting, several values with commas between them.

    Examples
    --------
    >>> write_setting((0.5, 1.0, 2)), write_setting("bbc"), write_setting(True)
    ('0.5, 1, 2', 'bbc', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(write_setting, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


class Interval(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Values with intervals at some places of the axis of a figure."""

    label: str
    places: tuple[int, ...]
    values: tuple[Interval, ...]

    def known(self) -> list[tuple[int, Interval]]:
        """List the points that have a value, with their places."""
        points = zip(self.places, self.values, strict=True)
        return [point for point in points if math.isfinite(point[1].value)]


Belief = Literal["yes", "care", "open", "no", "known"]


class Conclusion(NamedTuple):
    """Whether a result may be believed, and the sentence that says so.

    ``belief`` is "yes", "care" (with a reservation), "open" (not shown), "no" or, where
    the truth is known, "known". It is decided once, when the record is made, and stored
    in it; reports only show it.
    """

    belief: Belief
    sentence: str


@dataclass(frozen=True, repr=False)
class DataSummary:
    """Name, size, target and features of the data, for reports.

    Parameters
    ----------
    name : str
        Name of the data.
    n_samples, n_features : int
        Their size.
    classes : mapping of str to int
        Samples of each class; empty where the target is numbers or survival.
    feature_names : tuple of str
        Names of the features.
    kind : {"classes", "numbers", "survival"}
        Kind of the target.
    outcome : str
        The target in words.
    """

    name: str
    n_samples: int
    n_features: int
    classes: Mapping[str, int]
    feature_names: tuple[str, ...]
    kind: Kind = "classes"
    outcome: str = ""

    def __repr__(self) -> str:
        size = f"{self.n_samples} samples, {self.n_features} features"
        target = f"{len(self.classes)} classes" if self.classes else self.kind
        return f"DataSummary({self.name!r}, {size}, {target})"

    @property
    def majority_share(self) -> float:
        """Share of the most frequent class; NaN where there are no classes."""
        if not self.classes:
            return math.nan
        return max(self.classes.values()) / sum(self.classes.values())

    def annotate(self, adata: Any, columns: Mapping[str, Any], key: str) -> None:
        """Write what is known of the features to ``adata.var``.

        Parameters
        ----------
        adata : AnnData
            The data that are summarized.
        columns : mapping of str to array of shape (n_features,)
            Values by the end of the name of their column.
        key : str
            Beginning of these names.

        Raises
        ------
        InputError
            If the object has other features.
        """
        names = number_repeated(map(str, getattr(adata, "var_names", ())))
        if names != list(self.feature_names):
            raise InputError(
                f"adata has {len(names)} features, and the record {self.n_features}, "
                "or they have other names; pass the AnnData object that the record "
                "was made from."
            )
        for end, values in columns.items():
            adata.var[f"{key}_{end}"] = values


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """Base class of records: conversions to tables, pages and plain data.

    A record shows its result in a line (``__repr__``) and in a table (`to_frame`).
    Records are below all other packages and may not import them; the package that
    writes and draws them is imported by name when it is needed.

    Attributes
    ----------
    conclusion : Conclusion
        Whether the result may be believed. It is decided when the record is made, by
        `_conclude` of its kind, and stored.
    """

    conclusion: Conclusion = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._store(conclusion=self._conclude())

    def _conclude(self) -> Conclusion:
        """Decide whether the result may be believed; every kind has its own."""
        raise NotImplementedError

    def _store(self, **derived: Any) -> None:
        """Store what is derived from other fields; only while the record is made."""
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def to_frame(self) -> pd.DataFrame:
        """Write it as a tidy pandas data frame; every kind of record has its own."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain numbers, strings, lists and dicts, as ``--json`` does."""
        return _report().to_json(self)

    def to_markdown(self) -> str:
        """Write the main table as Markdown, with its caption."""
        return _report().to_markdown(self)

    def to_latex(self) -> str:
        r"""Write the main table as LaTeX, with the rules of ``booktabs``."""
        return _report().to_latex(self)

    def to_html(self) -> str:
        """Write the main table as HTML, its caption above; names are escaped."""
        return _report().to_html(self)

    def method_section(self) -> str:
        """Describe how the results were computed, for a method section."""
        return _report().method_section(self)

    def save(self, path: str | Path) -> Path:
        """Write it to a file; the end of its name says how.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced in one step. A name that
            ends in ``.html`` is that of a self-contained page, ``.json``, ``.csv``,
            ``.tex``, ``.md``, ``.png``, ``.svg`` and ``.pdf`` are explained in
            `veridical.report.save`.

        Returns
        -------
        Path
            The same path.
        """
        written: Path = _report().save(self, path)
        return written

    def plot(self, which: int = 0, **kwargs: Any) -> Any:
        """Draw a figure of its page on matplotlib.

        Parameters
        ----------
        which : int, default=0
            The place of the figure on the page.
        **kwargs
            ``ax``, where to draw a figure of one picture, and options of the marks, as
            ``Axes.errorbar`` or ``Axes.plot`` take them.

        Returns
        -------
        FigureDisplay
            With ``figure_``, ``axes_`` and ``ax_``, the first of them.

        Raises
        ------
        InputError
            If there is no such figure.
        """
        return _report().plot(self, which, **kwargs)

    def __rich__(self) -> Any:
        return _report().to_rich(self)

    def _repr_html_(self) -> str:
        shown: str = _report().fragment(self)
        return shown


def frame(rows: Iterable[Any], *columns: str) -> pd.DataFrame:
    """Make a data frame; it has its columns even without rows.

    Parameters
    ----------
    rows : iterable of tuple or object
        A tuple per row, or an object with the columns for attributes.
    *columns : str
        Names of the columns.

    Examples
    --------
    >>> frame([Interval(0.5, 0.4, 0.6)], "value", "low").to_dict("list")
    {'value': [0.5], 'low': [0.4]}
    """
    import pandas as pd

    cells = [
        row if type(row) is tuple else tuple(getattr(row, name) for name in columns)
        for row in rows
    ]
    return pd.DataFrame.from_records(cells, columns=list(columns))


def _report() -> Any:
    return import_module("veridical.report")
