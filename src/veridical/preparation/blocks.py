"""Batch and covariates of a table, for which its features are corrected in every split.

A verb takes them out of X (or gets them as values of their own), so that they are no
features. A `Table` holds them as its blocks; ``table.corrected(train)`` learns the
correction on training samples and applies it to all.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from pandas.util import hash_pandas_object
from scipy import sparse
from sklearn.base import clone

from veridical._core.advice import for_users
from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features, refuse_lazy
from veridical._core.errors import InputError
from veridical._core.reading import is_frame, read_table
from veridical._core.sklearn_private import take
from veridical._core.table import Table
from veridical._core.targets import Classes, Numbers, Survival
from veridical._core.text import listed, listing, one_line, plural, quote, write_rows
from veridical.preparation.combat import ComBat
from veridical.preparation.correction_columns import (
    SideColumns,
    column_of,
    list_columns,
    place_columns,
    read_batches,
    read_side,
    replace_columns,
)
from veridical.preparation.residualize import Residualize

# Numbers of corrected tables that are remembered; an audit uses the same splits often.
_REMEMBERED = 1 << 23
# Probability that a covariate separates the classes by chance; above it nothing is
# refused.
_BY_CHANCE = 1e-3


@dataclass(frozen=True, eq=False)
class SampleBlocks:
    """Batch and covariates of the samples, and how features are corrected for them.

    Parameters
    ----------
    batch : Series or None
        The batch of every sample.
    covariates : DataFrame or None
        Covariates whose linear effect is subtracted.
    kept : DataFrame or None
        Covariates whose effect is kept while batches are corrected.
    combat : ComBat or None
        Corrects batches.
    residualize : Residualize or None
        Subtracts effects of covariates.
    whole : Features or None
        All features, where the table has some of them only: what batches have in
        common is learned from all.
    columns : int array or None
        The features that the table has.
    """

    batch: pd.Series[Any] | None
    covariates: pd.DataFrame | None
    kept: pd.DataFrame | None
    combat: ComBat | None
    residualize: Residualize | None
    whole: Features | None = None
    columns: IntArray | None = None
    _known: dict[bytes, FloatArray] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # other processes start anew

    def take(self, rows: Any) -> SampleBlocks:
        """Take some samples."""
        parts = (self.batch, self.covariates, self.kept)
        some = [None if part is None else part.iloc[rows] for part in parts]
        whole = None if self.whole is None else self.whole.rows(rows)
        batch, covariates, kept = some
        return replace(
            self,
            batch=batch,
            covariates=covariates,
            kept=kept,
            whole=whole,
            _known={},
        )

    def take_columns(self, features: Features, columns: IntArray) -> SampleBlocks:
        """Take some features of the table; the correction is still that of all."""
        whole = features if self.whole is None else self.whole
        before = np.arange(features.values.shape[1])
        before = before if self.columns is None else self.columns
        return replace(self, whole=whole, columns=before[columns], _known={})

    def correct(
        self, table: Table, train: IntArray, test: IntArray | None = None
    ) -> Table:
        """Correct training and test samples by what training samples say.

        Parameters
        ----------
        table : Table
            The table that has these blocks.
        train : int array
            Rows to learn from.
        test : int array, optional
            Further rows to correct. All other rows stay as they are.

        Returns
        -------
        Table
            Without blocks.
        """
        whole = table.features if self.whole is None else self.whole
        values = self._values(whole, table, train, test)
        if self.columns is not None:
            values = values[:, self.columns]
        source = table.source
        if isinstance(source, np.ndarray):
            source = values
        elif source is not None:
            numeric = np.flatnonzero(~table.categorical)
            source = replace_columns(source, numeric, values[:, numeric])
        features = replace(table.features, stored=values)
        return table.replace(features=features, source=source, blocks=None)

    def _values(
        self,
        whole: Features,
        table: Table,
        train: IntArray,
        test: IntArray | None,
    ) -> FloatArray:
        rows = np.unique(train if test is None else np.concatenate([train, test]))
        key = np.concatenate([train, [-1], rows]).tobytes()
        uses_outcome = self.combat is not None and self.combat.protect_outcome
        if uses_outcome:
            key += np.asarray(table.labels).tobytes()
        if key in self._known:
            return self._known[key]
        numeric = np.flatnonzero(~whole.categorical)
        values = np.array(whole.values, dtype=np.float64)
        labels = table.labels[train] if uses_outcome else None
        values[np.ix_(rows, numeric)] = self._apply(
            values[:, numeric], labels, train, rows
        )
        if (1 + len(self._known)) * values.size <= _REMEMBERED:
            self._known[key] = values
        return values

    def _apply(
        self, values: FloatArray, labels: Any, train: IntArray, rows: IntArray
    ) -> FloatArray:
        """Learn on the training rows; return the corrected rows."""
        learned, applied = values[train], values[rows]
        if self.combat is not None:
            assert self.batch is not None
            known = [one for one in (self.kept, self.covariates) if one is not None]
            beside = pd.concat(known, axis=1) if known else None
            step = clone(self.combat)
            step.fit(
                learned,
                labels,
                batch=self.batch.iloc[train],
                covariates=None if beside is None else beside.iloc[train],
            )

            def corrected(some: FloatArray, which: IntArray) -> FloatArray:
                return step.transform(
                    some,
                    batch=self.batch.iloc[which],  # type: ignore[union-attr]
                    covariates=None if beside is None else beside.iloc[which],
                )

            applied = corrected(applied, rows)
            if self.residualize is not None:
                learned = corrected(learned, train)
        if self.residualize is not None:
            assert self.covariates is not None
            other = clone(self.residualize)
            other.fit(learned, covariates=self.covariates.iloc[train])
            applied = other.transform(applied, covariates=self.covariates.iloc[rows])
        return applied

    def sha256(self) -> str:
        """Hash batch, covariates and how features are corrected for them."""
        found = hashlib.sha256()
        for part in (self.batch, self.covariates, self.kept):
            if part is not None:
                found.update(hash_pandas_object(part, index=False).to_numpy().tobytes())
            found.update(b"|")
        for step in (self.combat, self.residualize):
            found.update(one_line(step).encode())
        return found.hexdigest()

    def describe(self) -> dict[str, str]:
        """Say what is done, for the settings of a record."""
        said = {}
        if self.batch is not None and self.combat is not None:
            sizes = self.batch.value_counts(sort=False)
            each = ", ".join(f"{label} {size}" for label, size in sizes.items())
            how = "" if self.combat.parametric else "non-parametric "
            more = [
                words
                for is_so, words in (
                    (self.combat.mean_only, "means only"),
                    (self.combat.protect_outcome, "with the outcome protected"),
                    (
                        self.combat.reference is not None,
                        f"made like {self.combat.reference}",
                    ),
                )
                if is_so
            ]
            said["batch"] = (
                f"{self.batch.name} ({len(sizes)} batches: {each}), corrected by "
                f"{how}ComBat{', ' if more else ''}{', '.join(more)}; learned on every "
                "training set"
            )
        if self.covariates is not None:
            names = listing(map(str, self.covariates.columns))
            said["covariates"] = (
                f"{names}: the linear effect is subtracted; learned on every training "
                "set"
            )
        return said


def read_with_blocks(
    X: Any, y: Any, *, batch: Any = None, covariates: Any = None, **how: Any
) -> Table:
    """Read a table whose features are corrected for batch and covariates.

    Parameters
    ----------
    X, y
        As in `read_table`.
    batch : str, int, array-like of shape (n_samples,) or ComBat, optional
        A column of X, the batches themselves, or a `ComBat` that names the column.
    covariates : str, int, list of these, array or data frame, optional
        Columns of X, or the covariates themselves; or a `Residualize` that names them.
    **how
        Passed to `read_table`.

    Returns
    -------
    Table
        Without the columns of batch and covariates, with blocks.

    Raises
    ------
    InputError
        If they are missing or unknown, determine the class, or a batch has one sample.
    """
    if isinstance(X, Table) or (batch is None and covariates is None):
        return read_table(X, y, **how)
    if sparse.issparse(X):
        raise InputError(
            f"{_which(batch)} is not for sparse data, whose zeros it would shift; pass "
            "X.toarray()."
        )
    combat = None
    if batch is not None:
        combat = batch if isinstance(batch, ComBat) else ComBat()
        batch = batch.batch if isinstance(batch, ComBat) else batch
        if batch is None:
            raise InputError("batch=ComBat() names no column; write ComBat('site').")
    residualize = None
    if covariates is not None:
        own = isinstance(covariates, Residualize)
        residualize = covariates if own else Residualize()
        covariates = covariates.covariates if own else covariates
    kept = None if combat is None else combat.covariates
    asked = {"batch": batch, "covariates": covariates, "kept": kept}
    X, sides = _take_out(X, asked, how.get("groups"))
    table = read_table(X, y, **how)
    if table.categorical.all():
        raise InputError(
            "All features are categories, which cannot be corrected for batch or "
            "covariates; pass features that are numbers."
        )
    for parameter, side in sides.items():
        for column in side.columns:
            if len(column) != table.n_samples:
                raise InputError(
                    f"{parameter} has {len(column)} values, but X has "
                    f"{table.n_samples} rows; give one per sample."
                )
    blocks = SampleBlocks(
        batch=_series(sides.get("batch")),
        covariates=_frame(sides.get("covariates")),
        kept=_frame(sides.get("kept")),
        combat=None if combat is None else _without_columns(combat),
        residualize=None if residualize is None else _without_columns(residualize),
    )
    _check_confounding(blocks, table)
    return table.replace(blocks=blocks)


def separate_known(
    X: Any, batch: Any = None, covariates: Any = None, groups: Any = None
) -> tuple[Any, pd.Series[Any] | None, pd.DataFrame | None]:
    """Take batch and covariates out of X, without correcting for them.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        The samples.
    batch : str, int or array-like of shape (n_samples,), optional
        A column of X, or the batches themselves.
    covariates : str, int, list of these, array or data frame, optional
        Columns of X, or the covariates themselves.
    groups : str, list of str or array-like, optional
        Columns that stay in X, where they are named.

    Returns
    -------
    X, batch, covariates
        The features, and the values of the others.
    """
    named = (str, int, np.integer, list, tuple)
    if sparse.issparse(X) and isinstance(batch, named[:3]):
        raise InputError(
            f"batch={batch!r} names a column, but X is sparse; pass values."
        )
    X, sides = _take_out(X, {"batch": batch, "covariates": covariates}, groups)
    return X, _series(sides.get("batch")), _frame(sides.get("covariates"))


def describe_blocks(table: Table) -> dict[str, str]:
    """Say what a table is corrected for; nothing where it is not."""
    return {} if table.blocks is None else table.blocks.describe()


def _which(batch: Any) -> str:
    return "batch=" if batch is not None else "covariates="


def _without_columns(step: Any) -> Any:
    """Copy a transformer that gets batch and covariates as arguments."""
    given = {name: None for name in ("batch", "covariates") if hasattr(step, name)}
    return clone(step).set_params(**given)


def _take_out(
    X: Any, asked: dict[str, Any], groups: Any = None
) -> tuple[Any, dict[str, SideColumns]]:
    """Take named columns out of X, but those of groups; read what is given as values.

    A site may be the batch and the group of a sample.
    """
    sides: dict[str, SideColumns] = {}
    if all(given is None for given in asked.values()):
        return X, sides
    refuse_lazy(X)
    names: list[Any] | None = None
    if is_frame(X):
        names = list(nw.from_native(X, eager_only=True).columns)
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    gone: list[int] = []
    for parameter, given in asked.items():
        if given is None:
            continue
        plain = isinstance(given, (str, int, np.integer))
        if not plain and (parameter == "batch" or not isinstance(given, (list, tuple))):
            sides[parameter] = read_side(given, None, parameter)
            continue
        shown = "covariates" if parameter == "kept" else parameter
        wanted = list_columns(given, shown)
        places = place_columns(wanted, X.shape[1], names, shown)
        twice = [j for j in places if j in gone]
        if twice:
            label = quote(twice[0] if names is None else names[twice[0]])
            raise InputError(
                f"Column {label} is named as batch and as covariate; leave it out of "
                "the covariates."
            )
        gone += places
        columns = [column_of(X, j) for j in places]
        labels = [f"column {j}" if names is None else names[j] for j in places]
        sides[parameter] = SideColumns(columns, labels)
    if gone:
        stays = groups if isinstance(groups, list) else [groups]
        stays = [one for one in stays if isinstance(one, str)]
        gone = [j for j in gone if names is None or names[j] not in stays]
        left = [j for j in range(X.shape[1]) if j not in gone]
        if not left:
            raise InputError(
                "All columns of X are batch or covariates; add the columns of the "
                "features."
            )
        X = take(X, left, axis=1)
        if isinstance(X, np.ndarray) and X.dtype == object:
            X = pd.DataFrame(X).infer_objects().to_numpy()
    return X, sides


def _series(side: SideColumns | None) -> pd.Series[Any] | None:
    if side is None:
        return None
    if len(side.columns) != 1:
        raise InputError("batch has several columns; give one batch per sample.")
    return pd.Series(read_batches(side), name=str(side.names[0]))


def _frame(side: SideColumns | None) -> pd.DataFrame | None:
    if side is None:
        return None
    columns = zip(side.names, side.columns, strict=True)
    return pd.DataFrame({str(name): values for name, values in columns})


# -- what cannot be corrected --------------------------------------------------------


def _check_confounding(blocks: SampleBlocks, table: Table) -> None:
    """Raise for batches and covariates that cannot be told from the outcome."""
    for frame in (blocks.covariates, blocks.kept):
        if frame is not None:
            for name, column in frame.items():
                _check_covariate(str(name), column, table)
    if blocks.batch is None:
        return
    sizes = blocks.batch.value_counts()
    name = quote(str(blocks.batch.name))
    if len(sizes) == 1:
        raise InputError(
            f"All samples are of batch {quote(sizes.index[0])} ({name}), so there is "
            "nothing to correct; leave the batch out."
        )
    assert blocks.combat is not None
    alone = sizes.index[sizes == 1].tolist()
    if alone and not blocks.combat.mean_only:
        cure = for_users(
            "leave out these samples, or shift only: batch=ComBat('site', "
            "mean_only=True)",
            "or leave out these samples",
        )
        raise InputError(
            f"{'Batch' if len(alone) == 1 else 'Batches'} {listed(alone)} of {name} "
            f"{'has' if len(alone) == 1 else 'have'} one sample only, from which "
            f"nothing can be learned; join similar batches, {cure}."
        )
    if isinstance(table.target, Classes):
        _check_batch_classes(blocks.batch, table.target)
    elif isinstance(table.target, Survival):
        _check_batch_events(blocks.batch, table.target)


def _have_one(batch: pd.Series[Any], codes: IntArray) -> tuple[BoolArray, Any]:
    """Return which batches have samples of one code only, and the batches."""
    counts = pd.crosstab(batch, codes)
    return (counts.to_numpy() > 0).sum(axis=1) == 1, counts.index


def _check_batch_events(batch: pd.Series[Any], target: Survival) -> None:
    if target.event.all():
        return
    pure, _ = _have_one(batch, target.event.astype(np.intp))
    if pure.all():
        raise InputError(
            f"The batch {quote(str(batch.name))} determines the event: in every batch "
            "either all events were seen or all times are censored, so differences "
            "between batches cannot be told from those between early and late times. "
            "No method can correct this; collect batches with events and with "
            "censored times."
        )


def _check_batch_classes(batch: pd.Series[Any], target: Classes) -> None:
    pure, labels = _have_one(batch, target.codes)
    name = quote(str(batch.name))
    if pure.all():
        raise InputError(
            f"The batch {name} determines the class: every batch has samples of one "
            "class only, so differences between batches cannot be told from those "
            "between classes. No method can correct this; collect batches with "
            "several classes."
        )
    if pure.any():
        which = np.asarray(labels)[pure].tolist()
        warnings.warn(
            f"{plural('Batch', which)} {listed(which)} of {name} "
            f"{'has' if len(which) == 1 else 'have'} samples of one class only; "
            "correcting it removes a part of what distinguishes the class.",
            stacklevel=6,
        )


def _check_covariate(name: str, column: pd.Series[Any], table: Table) -> None:
    missing = np.flatnonzero(column.isna())
    if missing.size:
        cure = for_users(
            "fill it in first (veridical.preparation.Impute),",
            "fill it in in the file",
        )
        raise InputError(
            f"Covariate {quote(name)} is missing in {write_rows(missing)}, counted "
            f"from 0; {cure} or leave out these rows."
        )
    if _determines(column, table):
        raise InputError(
            f"Covariate {quote(name)} determines the outcome, so that subtracting its "
            "effect would leave nothing to learn; leave it out of the covariates, and "
            "out of the features unless it is known for new samples."
        )


def _determines(column: pd.Series[Any], table: Table) -> bool:
    """Return whether a covariate alone gives the outcome, and not by chance."""
    values = column.to_numpy()
    number = pd.api.types.is_numeric_dtype(column)
    if isinstance(table.target, Numbers):
        if not number or np.ptp(values) == 0:
            return False
        target = np.asarray(table.labels, dtype=np.float64)
        return bool(abs(np.corrcoef(values, target)[0, 1]) > 1 - 1e-9)
    if isinstance(table.target, Survival):
        event = table.target.event.astype(np.intp)
        return (number and _orders_times(values, table.target)) or (
            bool(np.ptp(event)) and _separates(column, event)
        )
    assert isinstance(table.target, Classes)
    return _separates(column, table.y)


def _separates(column: pd.Series[Any], codes: IntArray) -> bool:
    """Return whether a covariate alone gives the class, and not by chance."""
    values, n_classes = column.to_numpy(), len(np.unique(codes))
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > n_classes:
        order = np.argsort(values, kind="stable")
        runs = np.flatnonzero(np.diff(codes[order]))
        if len(runs) != n_classes - 1:
            return False
        low, high = values[order][runs], values[order][runs + 1]
        sizes = np.bincount(codes)
        log_chance = (
            math.lgamma(sizes.size + 1)
            + sum(math.lgamma(size + 1) for size in sizes)
            - math.lgamma(codes.size + 1)
        )
        return bool((low < high).all()) and log_chance < math.log(_BY_CHANCE)
    pairs = pd.DataFrame({"value": values, "class": codes}).drop_duplicates()
    n_values = column.nunique()
    return len(pairs) == n_values and 2 * n_values <= len(codes)


def _orders_times(values: FloatArray, target: Survival) -> bool:
    """Return whether numbers have the order of all times that can be compared.

    Samples of equal times may have equal numbers. By chance each event has the largest
    value among itself and the samples observed longer with probability one over their
    number.
    """
    order = np.argsort(target.time, kind="stable")
    time, event = target.time[order], target.event[order]
    later = np.searchsorted(time, time, side="right")  # the first observed longer
    some = event & (later < len(time))
    at_risk = 1.0 + len(time) - later[some]
    if -np.log(at_risk).sum() >= math.log(_BY_CHANCE):
        return False
    for signed in (values[order], -values[order]):
        least = np.minimum.accumulate(signed[::-1])[::-1]  # from each sample on
        if (signed[some] < least[later[some]]).all():
            return True
    return False
