"""The options that verbs share, and the checks of their values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical._core.defaults import N_FEATURES_TO_SELECT, default_n_features
from veridical.cli import console, names
from veridical.cli.commands import METHODS_PANEL, OUTPUT_PANEL, WORK_PANEL

if TYPE_CHECKING:
    from veridical._core.targets import Kind
    from veridical.evaluation import Method


def method_option(metavar: str | None = None, **more: Any) -> Any:
    """Make an option of the panel of data and methods."""
    return typer.Option(metavar=metavar, rich_help_panel=METHODS_PANEL, **more)


def optional(metavar: str, help: str, **more: Any) -> Any:
    """Make an option without a default; its help says what happens without it."""
    return method_option(metavar, help=help, show_default=False, **more)


def flag(name: str, help: str) -> Any:
    """Make an option without a value."""
    return typer.Option(name, help=help, rich_help_panel=METHODS_PANEL)


TargetOption = Annotated[
    str | None,
    optional("COLUMN", "The column that holds the class, or the number to predict."),
]
DropOption = Annotated[
    list[str] | None,
    optional("COLUMN,...", "Columns to leave out, such as an identifier."),
]
GroupsOption = Annotated[
    list[str] | None,
    optional(
        "COLUMN",
        "The column that says which samples belong together, such as the patient; "
        "groups are kept whole. Of nested groups several, the outermost first: "
        "site,patient.",
    ),
]
WeightsOption = Annotated[
    str | None, optional("COLUMN", "The column that holds the weights of the samples.")
]
HeaderOption = Annotated[
    str | None,
    optional(
        "yes|no",
        "Whether the first row of a CSV file holds the names of the columns. "
        r"\[default: by its content]",
        autocompletion=names.completer(["yes", "no"]),
    ),
]
ClassesOption = Annotated[
    bool,
    flag(
        "--classes",
        "Take every number of the target as a class, however many numbers there are.",
    ),
]
NumbersOption = Annotated[
    bool,
    flag("--numbers", "Predict the target as a number, also where all are whole."),
]
TimeOption = Annotated[
    str | None,
    optional("COLUMN", "With --event, the column that holds survival times."),
]
EventOption = Annotated[
    str | None,
    optional(
        "COLUMN",
        "The column that says whether the event was seen (1) or the time is censored "
        "(0); needs --time.",
    ),
]
MemoryLimitOption = Annotated[
    str | None,
    optional(
        "SIZE",
        "Memory for the data, such as 2GB: parquet, HDF5 and zarr files are read by "
        "blocks of columns.",
    ),
]
LayerOption = Annotated[
    str | None, optional("NAME", "Of an AnnData file, the layer to read instead of X.")
]
ImputeOption = Annotated[
    str | None,
    optional(
        "HOW",
        f"Fill missing numbers on every training set: {names.join_or(names.IMPUTERS)}. "
        "Missing categories become the most frequent one.",
        autocompletion=names.completer(names.IMPUTERS),
    ),
]
RescaleOption = Annotated[
    str | None,
    optional(
        "SCALE",
        f"Scale numbers on every training set: {names.join_or(names.SCALERS)}.",
        autocompletion=names.completer(names.SCALERS),
    ),
]
EncodeOption = Annotated[
    str | None,
    optional(
        "HOW",
        f"Turn categories into numbers: {names.join_or(names.ENCODERS)}.",
        autocompletion=names.completer(names.ENCODERS),
    ),
]
BatchOption = Annotated[
    str | None,
    optional(
        "COLUMN",
        "The column with the batch of a sample: site, scanner, plate. ComBat corrects "
        "differences between batches on every training set.",
    ),
]
UnknownBatchOption = Annotated[
    str | None,
    optional(
        "error|estimate",
        "What to do with batches that a training set lacks: refuse them, or estimate "
        r"them from their own samples. \[default: error]",
        autocompletion=names.completer(["error", "estimate"]),
    ),
]
CovariatesOption = Annotated[
    list[str] | None,
    optional(
        "COLUMN,...",
        "Columns such as age and sex whose linear effect on the features is "
        "subtracted, learned on every training set.",
    ),
]
ValidateOption = Annotated[
    Path | None,
    optional(
        "FILE",
        "Train on DATA, and test on the samples of this file, which has the same "
        "columns, instead of splitting DATA.",
    ),
]
NoValidateOption = Annotated[
    Path | None, typer.Option("--validate", hidden=True, show_default=False)
]
FeaturesOption = Annotated[
    str | None,
    optional(
        "N",
        r"How many features to select, or a share of them such as 0.1. \[default: "
        f"{N_FEATURES_TO_SELECT}, or half of them where there are fewer than "
        f"{2 * N_FEATURES_TO_SELECT}]",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a report to this file: a page (.html), a table (.csv, .tex, .md), "
        "a picture (.png, .svg, .pdf) or .json.",
        show_default=False,
        rich_help_panel=OUTPUT_PANEL,
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet", help="Show no progress and no notes.", rich_help_panel=OUTPUT_PANEL
    ),
]
JobsOption = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of processes; -1 for one per core.",
        rich_help_panel=WORK_PANEL,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        metavar="N", help="Seed of everything random.", rich_help_panel=WORK_PANEL
    ),
]


def json_option(verb: str) -> Any:
    """Make ``--json``, with the name of the schema in its help."""
    return typer.Option(
        "--json",
        help=f"Print JSON and nothing else, as veridical schema {verb} describes it.",
        rich_help_panel=OUTPUT_PANEL,
    )


def data_argument(otherwise: str) -> Any:
    """Make the argument DATA; its help says what happens without it."""
    return typer.Argument(
        metavar="DATA",
        help="A table with one row per sample: CSV, TSV, ARFF or libsvm, plain or "
        "compressed, Parquet or npz; or a name from veridical data list. "
        f"Without it: {otherwise}.",
        show_default=False,
    )


ScoringOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,NAME]",
        help="What counts: accuracy, balanced_accuracy, roc_auc, average_precision, "
        "matthews_corrcoef, f1, sensitivity, specificity (also sensitivity@0.3, or "
        "sensitivity:CLASS with the positive class), "
        "log_loss, brier, or another scorer of scikit-learn. Of several, the first "
        r"leads. \[default: accuracy]",
        show_default=False,
        rich_help_panel=METHODS_PANEL,
    ),
]


def scoring_words(scoring: str | None) -> list[str]:
    """Write ``--scoring`` for the command that repeats a request."""
    return [] if scoring is None else ["--scoring", scoring]


def split_scoring(scoring: str | None) -> list[str] | None:
    """Read ``--scoring``; None is accuracy."""
    from veridical._core.scoring import read_scoring

    if scoring is None:
        return None
    found = split_commas([scoring])
    read_scoring(found, None)  # an unknown name is refused before data are read
    return found


def selector_option(help: str) -> Any:
    """Make ``--selector``."""
    known = names.completer(names.SELECTORS)
    return method_option("NAME", help=help, autocompletion=known)


def estimator_option(default_for_classes: str = "svm") -> Any:
    """Make ``--estimator``; the default is that of the kind of target."""
    about = (
        f"The estimator: {names.join_or(names.ESTIMATORS)}. "
        rf"\[default: {default_for_classes}; ridge for numbers, cox for survival times]"
    )
    known = names.completer(names.ESTIMATORS)
    return method_option("NAME", help=about, autocompletion=known)


def cv_option(
    help: str, default: str | None = None, methods: Sequence[str] = names.METHODS
) -> Any:
    """Make ``--cv`` with some methods; `default` is a text for the help."""
    about = f"{help}: {', '.join(methods)}; other numbers too.{default or ''}"
    known = names.completer(methods)
    return method_option(
        "CV", help=about, autocompletion=known, show_default=default is None
    )


def examples(*commands: str) -> str:
    """Write examples for the end of a help text, one per line."""
    return "\n\n".join(["Examples:", *(f"  veridical {line}" for line in commands)])


def read_feature_count(text: str | None) -> int | float | None:
    """Read ``--features``: a number of features, or a share of them."""
    from veridical._core.errors import InputError

    if text is None:
        return None
    number: int | float = math.nan
    for kind in (float, int):
        with suppress(ValueError):
            number = kind(text)
    if isinstance(number, int) and number < 1:
        raise InputError(f"--features {text} selects nothing; give 1 or more.")
    if isinstance(number, int) or 0 < number <= 1:
        return number
    raise InputError(
        f"--features {text} is neither a number of features nor a share of them; give "
        "10, or 0.1 for a tenth."
    )


def count_wanted(features: int | float | None, n_features: int) -> int:
    """Return how many features to select; by default at most half of them."""
    from veridical._core.validation import count_features

    if features is None:
        features = default_n_features(n_features)
    return count_features(features, n_features, name="--features", strict=True)


# -- checks before data are read -----------------------------------------------------


def check_shared(
    verb: str,
    data: Path | None,
    target: str | None,
    drop: Iterable[str] | None,
    header: str | None,
    classes: bool,
    seed: int,
    jobs: int,
    *,
    quiet: bool,
    groups: Iterable[str] | None = None,
    weights: str | None = None,
    numbers: bool = False,
    time: str | None = None,
    event: str | None = None,
    memory_limit: str | None = None,
    layer: str | None = None,
) -> dict[str, Any]:
    """Check the options that all verbs have; return the fields of a `Request`."""
    console.set_quiet(quiet)
    _check_target(target, time, event, classes=classes, numbers=numbers)
    named = [("--target", target), *(("--drop", column) for column in drop or ())]
    named += [("--time", time), ("--event", event)]
    named += [("--numbers", "" if numbers else None)]
    named += [
        *(("--groups", column) for column in groups or ()),
        ("--weights", weights),
    ]
    named += [("--memory-limit", memory_limit), ("--layer", layer)]
    named += [("--header", header), ("--classes", "" if classes else None)]
    _refuse_without_data(verb, data, named)
    check_numbers(seed, jobs)
    return {
        "data": data,
        "target": target,
        "drop": tuple(drop or ()),
        "groups": tuple(split_commas(groups)),
        "weights": weights,
        "header": read_header(header),
        "classes": classes,
        "numbers": numbers,
        "time": time,
        "event": event,
        "memory_limit": memory_limit,
        "layer": layer,
        "seed": seed,
    }


def _check_target(
    target: str | None,
    time: str | None,
    event: str | None,
    *,
    classes: bool,
    numbers: bool,
) -> None:
    """Raise if the options say two things about the target."""
    from veridical._core.errors import InputError

    if (time is None) != (event is None):
        has, lacks = ("--time", "--event") if event is None else ("--event", "--time")
        raise InputError(
            f"{has} needs {lacks}: a survival time needs the column of the time and "
            "the column that says whether the event was seen."
        )
    given = {
        "--target": target is not None and time is not None,
        "--classes": classes,
        "--numbers": numbers,
        "--time": time is not None,
    }
    said = [option for option, is_given in given.items() if is_given]
    if len(said) > 1:
        raise InputError(
            f"{' and '.join(said)} say different things about the target; give one."
        )


_OF_SURVIVAL = ("--time", "--event")


def _refuse_without_data(
    verb: str, data: Path | None, options: Iterable[tuple[str, str | None]]
) -> None:
    """Raise if an option is about a file although there is none."""
    from veridical._core.errors import InputError

    for option, value in options:
        if data is not None or value is None:
            continue
        says, form = "is given", f"{option} {value}".strip()
        if option in ("--target", "--drop", "--groups", "--weights", *_OF_SURVIVAL):
            says, form = "names a column", f"{option} COLUMN"
        raise InputError(
            f"{f'{option} {value}'.strip()} {says}, but there is no file; give it "
            f"first: veridical {verb} DATA {form}"
        )


def read_preparation(
    impute: str | None,
    scale: str | None,
    encode: str | None,
    batch: str | None,
    unknown_batch: str | None,
    covariates: Iterable[str] | None,
) -> dict[str, Any]:
    """Check how a table is prepared; return the fields of a `PreparedRequest`."""
    from veridical._core.errors import InputError

    given = {"impute": impute, "scale": scale, "encode": encode}
    known = (names.IMPUTERS, names.SCALERS, names.ENCODERS)
    for (option, how), choices in zip(given.items(), known, strict=True):
        if how is not None:
            check_choice(f"--{option}", how, choices)
    if unknown_batch is not None:
        check_choice("--unknown-batch", unknown_batch, ("error", "estimate"))
        if batch is None:
            raise InputError(
                f"--unknown-batch {unknown_batch} needs a batch; add --batch COLUMN."
            )
    return {
        **given,
        "batch": batch,
        "unknown_batch": unknown_batch,
        "covariates": tuple(split_commas(covariates)),
    }


def check_validation(
    verb: str, data: Path | None, validate: Path | None, cv: object
) -> None:
    """Raise if there is nothing to train on, or ``--cv`` splits it too."""
    from veridical._core.errors import InputError

    if validate is None:
        return
    _refuse_without_data(verb, data, [("--validate", str(validate))])
    if cv:
        raise InputError(
            f"--validate {validate} and --cv exclude each other: the samples of the "
            "file are the test set. Leave one of them out."
        )


def refuse_validation(verb: str, validate: Path | None) -> None:
    """Raise for ``--validate`` of a verb that does not train here and test there."""
    if validate is None:
        return
    from veridical._core.errors import InputError
    from veridical._core.text import capitalized

    instead = {
        "choose": "choose on DATA alone, and then test what was chosen by veridical "
        "estimate DATA --selector ... --features ... --estimator ... "
        f"--validate {validate}",
        "audit": "its checks look at one table; audit DATA alone",
    }
    raise InputError(
        f"veridical {verb} does not take --validate; the verbs that train on one file "
        "and test on another are estimate, select and compare. "
        f"{capitalized(instead.get(verb, 'leave it out'))}."
    )


def read_header(given: str | None) -> bool | None:
    """Read ``--header``: whether the first row holds names; None if not given."""
    if given is None:
        return None
    return check_choice("--header", given, ("yes", "no")) == "yes"


def check_numbers(seed: int, jobs: int = 1) -> None:
    """Raise if the seed or the number of processes is invalid."""
    from veridical._core.errors import InputError

    if seed < 0:
        raise InputError(f"--seed {seed} is below 0; give a number from 0 up.")
    if jobs == 0:
        raise InputError(
            "--jobs 0 starts no process; give 1 or more, or -1 for all cores."
        )


def given(estimator: str | None) -> list[str]:
    """Return the estimator as a list; empty where none was named."""
    return [] if estimator is None else [estimator]


def default_estimator(kind: Kind) -> str:
    """Return the estimator for a kind of target where none was named."""
    from veridical.learning import DEFAULT_ESTIMATORS

    return DEFAULT_ESTIMATORS[kind]


def check_names(selectors: Iterable[str] = (), estimators: Iterable[str] = ()) -> None:
    """Raise if a selector or estimator is unknown; similar names are suggested."""
    from veridical.evaluation.arguments import make_selector
    from veridical.learning import make_estimator

    for name in selectors:
        make_selector(name)
    for name in estimators:
        make_estimator(name)


def check_choice(option: str, given: str, known: Iterable[str]) -> str:
    """Raise if a value is unknown; similar names are suggested."""
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean

    if given not in known:
        raise InputError(
            f"There is no {option} {given!r}{did_you_mean(given, known)} Use one of "
            f"{', '.join(known)}."
        )
    return given


def read_method(given: str) -> Method:
    """Read the value of ``--cv``."""
    from veridical._core.advice import for_the_command_line
    from veridical._core.errors import InputError
    from veridical.evaluation.naming import make_method

    if given.isdecimal() and int(given) < 2:
        raise InputError(f"--cv {given} has no test set; give 2 folds or more.")
    with for_the_command_line():
        return make_method(given)


def split_commas(given: Iterable[str] | None) -> list[str]:
    """Split values with commas between them."""
    words = [word.strip() for text in given or () for word in text.split(",")]
    return [word for word in words if word]
