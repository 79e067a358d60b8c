"""A request to a verb: its data, its procedure, and the command that repeats it."""

from __future__ import annotations

import shlex
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.cli.options import split_commas

if TYPE_CHECKING:
    from veridical._core.records import DataSummary, Setting
    from veridical._core.splits import Validation
    from veridical._core.targets import Kind
    from veridical.cli.preparing import Preparation


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a verb is asked; output and number of processes are not part of it.

    Parameters
    ----------
    data : Path or None
        A file or the name of a data set; None for the source of the verb.
    target : str or None
        The column with the class.
    drop : tuple of str
        Columns to leave out.
    groups : tuple of str
        Columns that say which samples belong together, the outermost first; "none"
        alone where samples are independent although a column looks like groups.
    weights : str or None
        The column with the weights of the samples.
    structure : dict
        Groups and weights as arguments of a verb, once the data are read.
    header : bool or None
        Whether the first row of a CSV file holds names; None if its content decides.
    classes, numbers : bool
        Whether every number of the target is a class, or a number to predict.
    time, event : str or None
        The columns with survival times, and whether the event was seen.
    memory_limit : str or None
        Memory of data that are read by blocks, such as "2GB".
    layer : str or None
        Of AnnData, the layer to read.
    seed : int
        Seed of everything random.
    """

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    groups: tuple[str, ...] = ()
    weights: str | None = None
    header: bool | None
    classes: bool
    seed: int
    numbers: bool = False
    time: str | None = None
    event: str | None = None
    memory_limit: str | None = None
    layer: str | None = None
    structure: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @abstractmethod
    def command(self) -> str:
        """Write the command that repeats the request, defaults included."""

    def write_command(self, verb: str, *options: object) -> str:
        """Write a command with the data and the given options."""
        words = ["veridical", verb]
        if self.data is not None:
            words.append(str(self.data))
        if self.target is not None:
            words += ["--target", self.target]
        for column in self.drop:
            words += ["--drop", column]
        if self.groups:
            words += ["--groups", ",".join(self.groups)]
        if self.weights is not None:
            words += ["--weights", self.weights]
        if self.header is not None:
            words += ["--header", "yes" if self.header else "no"]
        words += ["--classes"] * self.classes + ["--numbers"] * self.numbers
        if self.time is not None and self.event is not None:
            words += ["--time", self.time, "--event", self.event]
        if self.memory_limit is not None:
            words += ["--memory-limit", self.memory_limit]
        if self.layer is not None:
            words += ["--layer", self.layer]
        return shlex.join([*words, *map(str, options), "--seed", str(self.seed)])

    def read_data(
        self, source: str, draw: Callable[[], tuple[Any, Any]]
    ) -> tuple[Any, Any, str]:
        """Read the data, or draw them from a source; return X, y and a name."""
        if self.data is None:
            return *draw(), f"{source} source"
        return self.read_file()

    def read_file(self) -> tuple[Any, Any, str]:
        """Read the file; raise if the target measures something; return X, y, name."""
        assert self.data is not None
        X, y, name = read_data(
            self.data, self.target, self.drop, header=self.header, strict=True,
            groups=self.groups, weights=self.weights, structure=self.structure,
            time=self.time, event=self.event,
            memory_limit=self.memory_limit, layer=self.layer,
        )  # fmt: skip
        return X, self.read_outcome(y, name), name

    def kind_of(self, y: Any) -> Kind:
        """Return the kind of target that the options, or else its values, say."""
        from veridical._core.reading import are_numbers

        if y.dtype.names:
            return "survival"
        if self.numbers or self.learns_numbers:
            return "numbers"
        return "numbers" if not self.classes and are_numbers(y) else "classes"

    @property
    def learns_numbers(self) -> bool:
        """Whether the estimator that was asked for predicts numbers."""
        from veridical.learning import estimators_for

        one = getattr(self, "estimator", None)
        asked = getattr(self, "estimators", None) or ([one] if one else [])
        return bool(asked) and all(name in estimators_for("numbers") for name in asked)

    def read_outcome(self, y: Any, name: str) -> Any:
        """Check the target by its kind, and convert it."""
        from veridical._core.reading import read_target

        kind = self.kind_of(y)
        if kind == "classes":
            return _read_classes(y, self.target, name, classes=self.classes)
        return read_target(y, len(y), name, kind=kind).labels

    def read_validation(
        self, path: Path, X: Any, y: Any, name: str
    ) -> tuple[Any, Any, Validation]:
        """Read a second file; return both, one below the other, and how to split."""
        import numpy as np

        from veridical._core.errors import InputError
        from veridical._core.splits import Validation

        with warnings.catch_warnings():  # the same as of the first file
            warnings.simplefilter("ignore")
            other, labels, tested_on = _read(
                path, self.target, self.header, self.time, self.event
            )
        for which, table in ((name, X), (tested_on, other)):
            if not hasattr(table, "columns"):
                raise InputError(
                    f"--validate {path} needs columns with names, by which the two "
                    f"files are matched, but those of {which} have none."
                )
        other = self._extend_structure(other, labels, len(X), name, tested_on)
        dropped = {*self.drop, *split_commas(self.drop)} & set(other.columns)
        other = other.drop(columns=list(dropped))
        other = _with_columns_of(X, other, name, tested_on)
        if self.kind_of(y) == "classes":
            labels = _with_classes_of(y, labels, name, tested_on, text=self.classes)
        else:
            labels = self.read_outcome(labels, tested_on)
        both, labels = _stack(X, other), np.concatenate([y, labels])
        n_equal = _count_equal_samples(both, labels, len(X), name, tested_on)
        also = f", {n_equal} equal to samples of {name}" if n_equal else ""
        split = Validation(
            len(X),
            trained_on=f"{name} ({len(X)} samples)",
            tested_on=f"{tested_on} ({len(other)} samples{also})",
            name=tested_on,
        )
        return both, labels, split

    def _extend_structure(
        self, other: Any, y: Any, n_samples: int, name: str, tested_on: str
    ) -> Any:
        """Add groups and weights of a second file; return its other columns.

        Raises
        ------
        InputError
            If a group has samples in both files.
        """
        import numpy as np
        import pandas as pd

        from veridical.cli.structure import refuse_shared_groups, take_structure

        sizes = n_samples, len(other)
        parts = [dict(self.structure)]
        with warnings.catch_warnings():
            if "groups" in self.structure:  # the same was said of the first file
                warnings.simplefilter("ignore")
            other, more, _ = take_structure(
                other, self.groups, self.weights, tested_on, y, None, self.outcome
            )
        parts.append(more)
        for key in sorted({*parts[0], *parts[1]}):
            for i, part in enumerate(parts):
                if key not in part:
                    # Groups were recognised in one file only; in the other one,
                    # samples are groups of their own.
                    part[key] = [f"{'ab'[i]} {number}" for number in range(sizes[i])]
            both = [pd.DataFrame(np.asarray(part[key])) for part in parts]
            if key == "groups":
                refuse_shared_groups(both[0][0], both[1][0], name, tested_on)
            joined = pd.concat(both, ignore_index=True).to_numpy()
            self.structure[key] = joined[:, 0] if joined.shape[1] == 1 else joined
        return other

    @property
    def outcome(self) -> tuple[str | None, ...]:
        """The columns of the target."""
        return self.target, self.time, self.event

    def with_origin(self, settings: Mapping[str, Setting]) -> dict[str, Setting]:
        """Add data, versions and command to the settings of a record."""
        return with_origin(settings, self.data, self.command())


@dataclass(frozen=True, kw_only=True)
class PreparedRequest(Request):
    """A request whose table may be prepared on every training set.

    Parameters
    ----------
    impute, scale, encode : str or None
        How; see `veridical.cli.preparing`.
    batch : str or None
        The column with the batch.
    unknown_batch : str or None
        What to do with batches that a training set lacks.
    covariates : tuple of str
        Columns whose effect is subtracted.
    """

    impute: str | None
    scale: str | None
    encode: str | None
    batch: str | None
    unknown_batch: str | None
    covariates: tuple[str, ...]

    def write_command(self, verb: str, *options: object) -> str:
        """Write a command with the data, the preparation and the given options."""
        given = {"impute": self.impute, "scale": self.scale, "encode": self.encode}
        given |= {"batch": self.batch, "unknown-batch": self.unknown_batch}
        given |= {"covariates": ",".join(self.covariates) or None}
        words = [w for name, how in given.items() if how for w in (f"--{name}", how)]
        return super().write_command(verb, *words, *options)

    def correct_for(self, verb: str, X: Any, y: Any) -> tuple[Any, Any]:
        """Take batch and covariates out of the features.

        Returns
        -------
        features, X
            The features, and what to pass to the verb in Python: a table that is
            corrected on every training set, or the features where there is nothing to
            correct.
        """
        import pandas as pd

        from veridical._core.errors import InputError
        from veridical.preparation import ComBat
        from veridical.preparation.blocks import read_with_blocks

        if self.batch is None and not self.covariates:
            return X, X
        if self.data is None:
            option = "--batch" if self.batch is not None else "--covariates"
            raise InputError(
                f"{option} names a column, but there is no file; give it first: "
                f"veridical {verb} DATA {option} COLUMN"
            )
        batch = None
        if self.batch is not None:
            if self.batch in self.groups and self.batch not in X.columns:
                # It was taken out as a group; a site may be both.
                groups = pd.DataFrame(self.structure["groups"])
                X = X.assign(**{self.batch: groups[self.groups.index(self.batch)]})
            batch = ComBat(self.batch, unknown=self.unknown_batch or "error")  # type: ignore[arg-type]
        covariates = list(self.covariates) or None
        table = read_with_blocks(
            X, y, batch=batch, covariates=covariates, kind=self.kind_of(y)
        )
        return table.source, table

    def preparation(self, X: Any) -> Preparation:
        """Make the steps of the preparation for a table."""
        from veridical.cli.preparing import make_preparation

        return make_preparation(X, self.impute, self.scale, self.encode)

    def describe(
        self, settings: Mapping[str, Setting], preparation: Preparation
    ) -> dict[str, Setting]:
        """Add the preparation in words, and the origin, to the settings of a record."""
        said = {"preparation": preparation.words} if preparation.words else {}
        return self.with_origin({**settings, **said})


# -- the data ------------------------------------------------------------------------


def read_data(
    data: Path,
    target: str | None,
    drop: Iterable[str] = (),
    *,
    header: bool | None = None,
    strict: bool = False,
    groups: Sequence[str] = (),
    weights: str | None = None,
    structure: dict[str, Any] | None = None,
    time: str | None = None,
    event: str | None = None,
    memory_limit: str | None = None,
    layer: str | None = None,
) -> tuple[Any, Any, str]:
    """Read a file, or a data set by its name.

    Parameters
    ----------
    data : Path
        As given.
    target : str or None
        The column that holds the class.
    drop : iterable of str
        Columns to leave out, one at a time or with commas between them.
    header : bool, optional
        Whether the first row of a CSV file holds names; None decides by its content.
    strict : bool, default=False
        Whether identifiers that are text are errors; otherwise they are notes.
    groups : sequence of str
        Columns of groups, or "none".
    weights : str, optional
        The column of weights.
    time, event : str, optional
        The columns of a survival time.
    memory_limit, layer : str, optional
        As in `veridical.datasets.read`.
    structure : dict, optional
        Takes up groups and weights, given or recognised; without it, samples that look
        like those of one subject are only noted.

    Returns
    -------
    X, y, name
        The table, the labels, and a display name.

    Raises
    ------
    InputError
        If it does not exist or cannot be read; similar names are suggested.

    Warns
    -----
    UserWarning
        If a column looks like an identifier, or samples like those of the same subject.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X, y, name = _read(data, target, header, time, event, memory_limit, layer)
    from veridical._core.lazy import is_lazy
    from veridical.cli.structure import find_subjects, identifiers_of, take_structure

    # Of data that are read by blocks, categories alone are in memory.
    whole = X.categorical_frame() if is_lazy(X) else X
    used: tuple[str, ...] = ()
    if structure is not None:
        X, found_in, used = take_structure(
            X, groups, weights, name, y, whole, (target, time, event)
        )
        structure |= found_in
    X, dropped = _drop_columns(X, list(drop), target, used)
    found = identifiers_of(whole, y)
    for warning in caught:
        # A dropped column needs no warning, and identifiers have one with the cure.
        if not any(repr(c) in str(warning.message) for c in (*dropped, *found, *used)):
            warnings.warn(warning.message, warning.category, stacklevel=2)
    subjects = find_subjects(whole, y, name) if structure is None else None
    if subjects is not None:
        warnings.warn(
            f"{subjects[2]}. Samples of one subject are not independent; verbs keep "
            "them together, as groups.",
            stacklevel=2,
        )
    left = set(getattr(X, "columns", ()))
    _tell_identifiers(
        whole, {c: k for c, k in found.items() if c in left}, name, strict
    )
    return X, y, name


def _with_columns_of(X: Any, other: Any, name: str, tested_on: str) -> Any:
    """Put the columns of a second table in the order of the first; check the kinds."""
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean, listed, plural

    known = set(getattr(other, "columns", ()))
    absent = [column for column in X.columns if column not in known]
    if absent:
        near = did_you_mean(str(absent[0]), sorted(map(str, known)))
        raise InputError(
            f"{tested_on} lacks {plural('column', absent)} {listed(absent)} of {name}"
            f"{near} Both files must have the same features."
        )
    more = [column for column in other.columns if column not in set(X.columns)]
    if more:
        warnings.warn(
            f"{plural('Column', more)} {listed(more)} of {tested_on} "
            f"{'is' if len(more) == 1 else 'are'} not used; {name} has no such column.",
            stacklevel=3,
        )
    other = other[list(X.columns)].copy()
    for column in X.columns:
        text, numbers = (part[column].dtype.kind == "O" for part in (X, other))
        if text != numbers and other[column].notna().any():
            first, second = ("text", "numbers") if text else ("numbers", "text")
            raise InputError(
                f"Column {column!r} holds {first} in {name}, but {second} in "
                f"{tested_on}; write it in the same way in both files."
            )
    return other


def tested_data(how: Any, X: Any, y: Any) -> DataSummary | None:
    """Describe the samples of a second file; None where there is none."""
    from veridical._core.reading import read_table
    from veridical._core.splits import Validation

    if not isinstance(how, Validation):
        return None
    rows = slice(how.n_train, None)
    return read_table(X, y).rows(rows).summary(how.name)


def _stack(X: Any, other: Any) -> Any:
    """Put one table below the other; categories are those of both."""
    import pandas as pd

    both = pd.concat([X, other], ignore_index=True)
    text = [column for column in both if both[column].dtype.kind == "O"]
    return both.astype(dict.fromkeys(text, "category"))


def _count_equal_samples(
    both: Any, y: Any, n_train: int, name: str, tested_on: str
) -> int:
    """Count samples of the second table that are also in the first; warn, or raise.

    Few features of few values make different samples equal. So if all samples have an
    equal one, it is an error only where most samples of the first table differ.
    """
    import numpy as np
    import pandas as pd

    from veridical._core.errors import InputError

    target = pd.DataFrame(np.asarray(y)) if y.dtype.names else pd.Series(y)
    parts = [pd.util.hash_pandas_object(one, index=False) for one in (both, target)]
    rows = pd.MultiIndex.from_arrays(parts)
    train, test = rows[:n_train].unique(), rows[n_train:]
    n_equal = int(test.isin(train).sum())
    if not n_equal:
        return 0
    same = f"the same target and the same value of every feature as a sample of {name}"
    if n_equal == len(test) and 2 * len(train) > n_train:
        raise InputError(
            f"Every sample of {tested_on} has {same}, so a model would be tested on "
            "what it has learned; name a file of other samples by --validate."
        )
    warnings.warn(
        f"{n_equal} of {len(test)} samples of {tested_on} "
        f"{'has' if n_equal == 1 else 'have'} {same}. If they are samples of {name}, "
        f"they are learned and then tested; remove them from {tested_on}.",
        stacklevel=3,
    )
    return n_equal


def _with_classes_of(y: Any, labels: Any, name: str, tested_on: str, text: bool) -> Any:
    """Return labels of the type of the first ones; raise for a class unknown there."""
    from veridical._core.errors import InputError
    from veridical._core.text import listed

    if text or y.dtype.kind in "US":
        labels = labels.astype(str)
    elif labels.dtype.kind == "f":
        labels = labels.astype(y.dtype)
    known = set(y.tolist())
    new = [one for one in dict.fromkeys(labels.tolist()) if one not in known]
    if new:
        raise InputError(
            f"{tested_on} has {'class' if len(new) == 1 else 'classes'} "
            f"{listed(new)}, which {name} does not have, so nothing can be learned "
            f"about {'it' if len(new) == 1 else 'them'}. The classes of {name} are "
            f"{listed(dict.fromkeys(y.tolist()))}."
        )
    return labels


def _tell_identifiers(
    X: Any, found: Mapping[Any, Any], name: str, strict: bool
) -> None:
    """Raise, or warn, if a column that is used identifies samples or subjects."""
    from veridical._core.errors import InputError
    from veridical._core.text import listing

    words = {
        "identifier": "differs in every sample, as an identifier does",
        "subjects": "says which subject a sample comes from",
    }
    numbers = [column for column in found if X[column].dtype.kind != "O"]
    texts = [column for column in found if column not in numbers]
    for columns in (numbers, texts):
        if not columns:
            continue
        about = listing(f"column {c!r} {words[found[c]]}" for c in columns)
        said = f"In {name}, {about}: nothing can be learned from "
        said += f"{'it' if len(columns) == 1 else 'them'} about new samples; "
        if strict and columns is texts:
            raise InputError(f"{said}add {_drop_option(columns)}.")
        unless = ", unless it is a measurement" if columns is numbers else ""
        warnings.warn(f"{said}add {_drop_option(columns)}{unless}.", stacklevel=3)


def _drop_option(columns: Sequence[Any]) -> str:
    """Write the option that leaves columns out, as a shell takes it."""
    names = [str(column) for column in columns]
    if any("," in name for name in names):
        return " ".join(f"--drop {shlex.quote(name)}" for name in names)
    return f"--drop {shlex.quote(','.join(names))}"


def _read_classes(y: Any, target: str | None, name: str, *, classes: bool) -> Any:
    """Return the labels; raise if they are measurements and not meant as classes.

    Many whole numbers that may be either are classes, with a note.
    """
    import pandas as pd

    from veridical._core.reading import (
        MAX_CLASSES,
        refuse_measurements,
        refuse_words_among_numbers,
    )

    if classes:
        return (y.astype(int) if y.dtype.kind == "f" else y).astype(str)
    column = "The labels" if target is None else f"The values of column {target!r}"
    refuse_measurements(y, f"{column} of {name}")
    refuse_words_among_numbers(y, f"{column} of {name}")
    n_values = 0 if y.dtype.kind in "OUS" else len(pd.unique(y))
    if n_values > MAX_CLASSES:
        warnings.warn(
            f"{column} of {name} are {n_values} different whole numbers, which are "
            "read as classes. To predict the number, add --numbers; if they are "
            "classes, add --classes.",
            stacklevel=3,
        )
    return y


def _read(
    data: Path,
    target: str | None,
    header: bool | None,
    time: str | None = None,
    event: str | None = None,
    memory_limit: str | None = None,
    layer: str | None = None,
) -> tuple[Any, Any, str]:
    from veridical._core.errors import InputError
    from veridical.datasets import EMBEDDED, available, load, read
    from veridical.datasets.embedded import load_embedded
    from veridical.datasets.loading import locate

    text = str(data)
    if data.expanduser().exists():
        found = read(
            data, target, header=header, time=time, event=event,
            memory_limit=memory_limit, layer=layer,
        )  # fmt: skip
        return *found, data.name
    if not (text.startswith("openml:") or text in available()):
        raise InputError(_not_found(data))
    place = locate(text)
    if place is not None:
        path, own = place
        own = own if target is None and time is None else target
        return *read(path, own, header=header, time=time, event=event), text
    for option, given in (
        ("--target", target),
        ("--header", header),
        ("--time", time),
        ("--memory-limit", memory_limit),
        ("--layer", layer),
    ):
        if given is not None:
            raise InputError(
                f"{option} is for files; {text} has its own target and names. Leave "
                "it out."
            )
    if text in EMBEDDED:
        return *load_embedded(text), text
    return *load(text), f"{text} source"


def _drop_columns(
    X: Any, drop: list[str], target: str | None, used: Sequence[str] = ()
) -> tuple[Any, list[str]]:
    """Leave columns out; a name may itself contain commas.

    Columns that are used otherwise, as groups say, are no features anyway.
    """
    if not drop:
        return X, []
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean, listed

    if not hasattr(X, "columns"):
        raise InputError(
            f"--drop {drop[0]} names a column, but the columns of these data have no "
            "names."
        )
    known = [str(column) for column in X.columns]
    drop = [text for text in drop if text not in used]
    dropped = [
        name
        for text in drop
        for name in ([text] if text in known else split_commas([text]))
        if name not in used
    ]
    for name in dropped:
        if name == target:
            raise InputError(f"--drop {name} would leave out the target; keep it.")
        if name not in known:
            raise InputError(
                f"--drop {name}: there is no such column{did_you_mean(name, known)} "
                f"The columns are {listed(known)}."
            )
    kept = [name not in dropped for name in known]
    if not any(kept):
        raise InputError("--drop leaves out all columns; keep at least one.")
    return (X.loc[:, kept] if hasattr(X, "loc") else X.drop(dropped)), dropped


def _not_found(data: Path) -> str:
    from veridical._core.text import did_you_mean
    from veridical.datasets import available

    if data.parent != Path() or data.suffix:
        near = [path.name for path in data.expanduser().parent.glob("*")]
        return f"There is no file {data}{did_you_mean(data.name, near)}"
    near = [*available(), *(path.name for path in Path().glob("*"))]
    return (
        f"There is no file {data}, nor a data set of that name"
        f"{did_you_mean(str(data), near)} veridical data list shows the names."
    )


def _file_of(data: Path) -> Path | None:
    from veridical.datasets.loading import locate

    if data.expanduser().exists():
        return data.expanduser()
    found = locate(str(data))
    return None if found is None else found[0]


def with_origin(
    settings: Mapping[str, Setting], data: Path | None, command: str
) -> dict[str, Setting]:
    """Add what is needed to repeat a run: the data, the versions, the command.

    The command replaces the equivalent call in Python.
    """
    import hashlib

    from veridical._core.version import __version__
    from veridical._core.versions import version_line

    known = {}
    file_of_data = None if data is None else _file_of(data)
    if file_of_data is not None:
        with file_of_data.open("rb") as file:
            known["data sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    kept = {key: value for key, value in settings.items() if key != "call"}
    if isinstance(truth := kept.get("truth"), Mapping):
        kept["truth"] = {key: one for key, one in truth.items() if key != "call"}
    return {
        **kept,
        **known,
        "veridical": __version__,
        "versions": version_line(),
        "command": command,
    }
