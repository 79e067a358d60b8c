"""``veridical choose``: the best of many selectors, sizes and estimators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical._core import interrupts
from veridical.cli import console, names, options
from veridical.cli.commands import OUTPUT_PANEL, WORK_PANEL
from veridical.cli.requests import PreparedRequest

if TYPE_CHECKING:
    from veridical._core.targets import Kind
    from veridical.evaluation.choices import Choice

CV = "10"
METHODS = tuple(
    one for one in names.METHODS if not one.startswith(("sub", "boot", "resub"))
)
CHOICE_CORRECTIONS = ("auto", "bbc", "nested")
CHECKLISTS = ("tripod+ai", "reforms")
# The source without DATA, and its number of samples.
SOURCE, N_SAMPLES = "linear", 125


@dataclass(frozen=True, kw_only=True)
class ChooseRequest(PreparedRequest):
    """A request to ``veridical choose``."""

    selectors: tuple[str, ...]
    sizes: tuple[int | float, ...]
    estimators: tuple[str, ...]
    cv: str
    correction: str
    drop_below: float | None
    scoring: str | None

    def command(self) -> str:
        """Write the command that repeats the request."""
        more: list[object] = []
        for option, given in (
            ("--selectors", self.selectors),
            ("--features", self.sizes),
            ("--estimators", self.estimators),
        ):
            if given:
                more += [option, ",".join(map(str, given))]
        more += [*options.scoring_words(self.scoring), "--cv", self.cv]
        more += ["--correction", self.correction]
        if self.drop_below is not None:
            more += ["--drop-hopeless", self.drop_below]
        return self.write_command("choose", *more)


def choose(
    data: Annotated[
        Path | None, options.data_argument("a source whose features are known")
    ] = None,
    target: options.TargetOption = None,
    drop: options.DropOption = None,
    groups: options.GroupsOption = None,
    weights: options.WeightsOption = None,
    header: options.HeaderOption = None,
    classes: options.ClassesOption = False,
    numbers: options.NumbersOption = False,
    time: options.TimeOption = None,
    event: options.EventOption = None,
    impute: options.ImputeOption = None,
    scale: options.RescaleOption = None,
    encode: options.EncodeOption = None,
    batch: options.BatchOption = None,
    unknown_batch: options.UnknownBatchOption = None,
    covariates: options.CovariatesOption = None,
    selectors: Annotated[
        list[str] | None,
        options.optional(
            "A,B,...",
            f"Selectors to try: {', '.join(names.SELECTORS)}. "
            r"\[default: three that read the data]",
            autocompletion=names.completer(names.SELECTORS),
        ),
    ] = None,
    features: Annotated[
        list[str] | None,
        options.optional(
            "N",
            "Numbers of features to try, or shares such as 0.1, with commas between "
            "them. "
            r"\[default: 1,2,5,10,... up to the number of samples]",
        ),
    ] = None,
    estimators: Annotated[
        list[str] | None,
        options.optional(
            "A,B,...",
            f"Estimators to try: {', '.join(names.ESTIMATORS)}. "
            r"\[default: three for the kind of target]",
            autocompletion=names.completer(names.ESTIMATORS),
        ),
    ] = None,
    cv: Annotated[
        str,
        options.cv_option(
            "How to split; models must not be tested on samples that they learned "
            "from, and every sample equally often",
            methods=METHODS,
        ),
    ] = CV,
    correction: Annotated[
        str,
        options.method_option(
            "HOW",
            help="How the score is corrected for the choice: bbc (the bootstrap of the "
            "predictions, fast), nested (the choice is repeated in every training "
            "set) or auto (nested where there are 3 to 20 folds).",
            autocompletion=names.completer(CHOICE_CORRECTIONS),
        ),
    ] = "auto",
    drop_hopeless: Annotated[
        float | None,
        options.optional(
            "SHARE",
            "Drop hopeless candidates after each fold; the share of searches that keep "
            "the truly best one is at least this, such as 0.99.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        options.optional(
            "FILE", "Keep predictions in this file; the same command resumes from it."
        ),
    ] = None,
    scoring: options.ScoringOption = None,
    validate: options.NoValidateOption = None,
    jobs: options.JobsOption = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Use the Dask scheduler at this address; local starts one here.",
            show_default=False,
            rich_help_panel=WORK_PANEL,
        ),
    ] = None,
    seed: options.SeedOption = 0,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the fitted pipeline to this file, by skops.",
            show_default=False,
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = None,
    checklist: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Print a reporting checklist, {names.join_or(CHECKLISTS)}, filled in "
            "as far as the result can, instead of the tables.",
            show_default=False,
            rich_help_panel=OUTPUT_PANEL,
            autocompletion=names.completer(CHECKLISTS),
        ),
    ] = None,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("choose")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Choose selector, number of features and estimator together.

    All candidates are cross-validated with selection inside the folds. The
    score of the best of them is too good, because it was chosen by it; the
    score that is reported is corrected for that. After Ctrl-C the candidates
    that are done are reported, and the report says that it is partial.
    """
    options.refuse_validation("choose", validate)
    common = options.check_shared(
        "choose", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
    )  # fmt: skip
    options.read_method(cv)
    options.check_choice("--correction", correction, CHOICE_CORRECTIONS)
    if checklist is not None:
        options.check_choice("--checklist", checklist, CHECKLISTS)
    sizes = [
        one
        for text in options.split_commas(features)
        if (one := options.read_feature_count(text)) is not None
    ]
    request = ChooseRequest(
        **common,
        **options.read_preparation(
            impute, scale, encode, batch, unknown_batch, covariates
        ),
        selectors=tuple(options.split_commas(selectors)),
        sizes=tuple(sizes),
        estimators=tuple(options.split_commas(estimators)),
        cv=cv,
        correction=correction,
        drop_below=drop_hopeless,
        scoring=scoring,
    )
    options.split_scoring(scoring)
    options.check_names(request.selectors, request.estimators)
    notice = f"Without DATA, this uses the {SOURCE} source, {N_SAMPLES} samples."
    found = console.print_answer(
        lambda: _run(request, jobs, dask, store),
        out,
        as_json=as_json,
        notice=notice if data is None else None,
        show=None if checklist is None else lambda one: _show_checklist(one, checklist),
    )
    if model is not None:
        found.save_estimator(model)
        console.note(f"The fitted pipeline is in {model}", on_stderr=as_json)
    if found.is_partial:
        raise typer.Exit(130)


def _show_checklist(found: Choice, name: str) -> None:
    for row in found.checklist(name).itertuples():  # type: ignore[arg-type]
        typer.echo(f"{row.item:4} {row.topic}\n     {row.status}: {row.evidence}")


def _message(store: Path | None) -> str:
    """Write what is kept where the search is stopped at once."""
    if store is None:
        return interrupts.STOP_MESSAGE
    return (
        "Stopped. No report was written; predictions that were finished are in "
        f"{store}, and the same command resumes from them."
    )


@contextmanager
def _cluster(address: str | None, jobs: int) -> Iterator[int]:
    """Use a Dask cluster, where there is one; yield the number of processes."""
    if address is None:
        yield jobs
        return
    from joblib import parallel_config

    from veridical.experiments import Cluster

    with (
        Cluster(None if address == "local" else address, max(jobs, 1)).client(),
        parallel_config("dask", n_jobs=-1),
    ):
        yield -1


def _selectors_for(X: Any, y: Any, kind: Kind) -> list[str]:
    """Return the default selectors of a table that was prepared."""
    from veridical._core.reading import read_table
    from veridical.evaluation.candidates import default_selectors

    return default_selectors(read_table(X, y, kind=kind))


def _run(
    request: ChooseRequest, jobs: int, dask: str | None, store: Path | None
) -> Choice:
    from veridical._core.reading import read_target
    from veridical._core.scoring import read_scoring
    from veridical.datasets import SOURCES
    from veridical.evaluation.arguments import make_selector, name_of
    from veridical.evaluation.candidates import default_estimators
    from veridical.evaluation.choosing import choose as run
    from veridical.learning import make_estimator

    X, y, name = request.read_data(
        SOURCE, lambda: SOURCES[SOURCE](N_SAMPLES, random_state=request.seed)
    )
    X, given = request.correct_for("choose", X, y)
    prepared = request.preparation(X)
    kind = request.kind_of(y)
    scores = read_scoring(
        options.split_scoring(request.scoring), read_target(y, len(y), name, kind=kind)
    )
    selectors: Any = list(request.selectors) or "auto"
    estimators: Any = list(request.estimators) or "auto"
    if prepared.words:
        selectors = {
            name_of(one): prepared.select_by(make_selector(one))
            for one in request.selectors or _selectors_for(prepared.apply(X), y, kind)
        }
        named = {name_of(one): make_estimator(one) for one in request.estimators}
        estimators = {
            one: prepared.learn_by(made)
            for one, made in (named or default_estimators(kind, scores)).items()
        }
    with (
        interrupts.stop_message(_message(store)),
        _cluster(dask, jobs) as n_jobs,
        console.progress_bar("Choosing") as progress,
    ):
        found = run(
            given,
            y,
            selectors=selectors,
            sizes=list(request.sizes) or "auto",
            estimators=estimators,
            **request.structure,
            scoring=options.split_scoring(request.scoring),
            cv=request.cv,
            correction=request.correction,  # type: ignore[arg-type]
            drop=request.drop_below,
            store=store,
            name=name,
            random_state=request.seed,
            n_jobs=n_jobs,
            progress=progress,
        )
    return replace(found, settings=request.describe(found.settings, prepared))
