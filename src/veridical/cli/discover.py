"""``veridical discover``: which features may be claimed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options
from veridical.cli.requests import PreparedRequest

if TYPE_CHECKING:
    from veridical.discovery.records import Discoveries

CLAIM = "association"
CLAIMS = ("association", "conditional", "stable")
TEST_METHODS = ("auto", "permutation", "dcrt", "knockoffs", "pairs", "decoys")
# The source without DATA, and its number of samples.
SOURCE, N_SAMPLES = "linear", 125


@dataclass(frozen=True, kw_only=True)
class DiscoverRequest(PreparedRequest):
    """A request to ``veridical discover``."""

    selector: str | None
    claim: str
    fdr: float | None
    pfer: float | None
    fwer: float | None
    method: str
    permutations: int | None
    strata: str | None

    def command(self) -> str:
        """Write the command that repeats the request."""
        more: list[object] = ["--claim", self.claim]
        for name in ("fdr", "pfer", "fwer"):
            if getattr(self, name) is not None:
                more += [f"--{name}", f"{getattr(self, name):g}"]
        if self.selector is not None:
            more += ["--selector", self.selector]
        more += ["--method", self.method]
        if self.permutations is not None:
            more += ["--permutations", self.permutations]
        if self.strata is not None:
            more += ["--strata", self.strata]
        return self.write_command("discover", *more)


def _rate(text: str) -> Any:
    return options.optional("RATE", text)


def discover(
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
    memory_limit: options.MemoryLimitOption = None,
    layer: options.LayerOption = None,
    impute: Annotated[
        str | None,
        options.optional(
            "HOW",
            "Fill missing numbers from all samples, without the outcome: "
            f"{names.join_or(names.IMPUTERS)}. Missing categories become the most "
            "frequent one.",
            autocompletion=names.completer(names.IMPUTERS),
        ),
    ] = None,
    scale: Annotated[
        str | None,
        options.optional(
            "SCALE",
            "Scale numbers by all samples, without the outcome: "
            f"{names.join_or(names.SCALERS)}.",
            autocompletion=names.completer(names.SCALERS),
        ),
    ] = None,
    encode: options.EncodeOption = None,
    claim: Annotated[
        str,
        options.method_option(
            "CLAIM",
            help=f"What is claimed of a feature: {names.join_or(CLAIMS)}.",
            autocompletion=names.completer(CLAIMS),
        ),
    ] = CLAIM,
    fdr: Annotated[
        float | None,
        _rate(
            "Expected share of false claims among all claims. "
            r"\[default: 0.1, unless the claim is stable]"
        ),
    ] = None,
    pfer: Annotated[
        float | None,
        _rate(
            "Expected number of false claims. "
            r"\[default: 1, where the claim is stable]"
        ),
    ] = None,
    fwer: Annotated[
        float | None, _rate("Probability of any false claim, such as 0.05.")
    ] = None,
    selector: Annotated[
        str | None,
        options.optional(
            "NAME",
            f"The score of a feature: {names.join_or(names.SELECTORS)}; for knockoffs "
            r"also lasso, ridge or svm. \[default: by target and claim]",
            autocompletion=names.completer(names.SELECTORS),
        ),
    ] = None,
    method: Annotated[
        str,
        options.method_option(
            "METHOD",
            help=f"How the claim is tested: {names.join_or(TEST_METHODS)}.",
            autocompletion=names.completer(TEST_METHODS),
        ),
    ] = "auto",
    strata: Annotated[
        str | None,
        options.optional(
            "COLUMN",
            "A column such as the site: outcomes are exchanged inside its values only, "
            "and it is not a feature.",
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        options.optional(
            "N",
            "Permutations of the outcome, the same for every feature. "
            r"\[default: as many as each p-value needs]",
        ),
    ] = None,
    validate: options.NoValidateOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("discover")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Find the features that may be claimed at a stated error rate.

    Association: feature and outcome depend on each other. Conditional: they do
    so given all other features. Stable: the procedure selects the feature again
    and again. Exit status 0, also where nothing may be claimed.
    """
    options.refuse_validation("discover", validate)
    common = options.check_shared(
        "discover", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
        memory_limit=memory_limit, layer=layer,
    )  # fmt: skip
    options.check_choice("--claim", claim, CLAIMS)
    options.check_choice("--method", method, TEST_METHODS)
    request = DiscoverRequest(
        **common,
        **options.read_preparation(impute, scale, encode, None, None, None),
        selector=selector,
        claim=claim,
        fdr=fdr,
        pfer=pfer,
        fwer=fwer,
        method=method,
        permutations=permutations,
        strata=strata,
    )
    notice = f"Without DATA, this uses the {SOURCE} source, {N_SAMPLES} samples."
    console.print_answer(
        lambda: _run(request, jobs),
        out,
        as_json=as_json,
        notice=notice if data is None else None,
    )


def _run(request: DiscoverRequest, jobs: int) -> Discoveries:
    from veridical.cli.preparing import make_preparation
    from veridical.datasets import SOURCES
    from veridical.discovery.discovering import discover as run

    X, y, name = request.read_data(
        SOURCE, lambda: SOURCES[SOURCE](N_SAMPLES, random_state=request.seed)
    )
    strata = None
    if request.strata is not None:
        strata, X = _take_column(X, request.strata)
    prepared = make_preparation(
        X,
        request.impute,
        request.scale,
        request.encode,
        learned="on all samples, without the outcome",
    )
    X = prepared.apply(X)
    with console.progress_bar("Discovering") as progress:
        found = run(
            X,
            y,
            selector=request.selector,
            claim=request.claim,  # type: ignore[arg-type]
            fdr=request.fdr,
            pfer=request.pfer,
            fwer=request.fwer,
            method=request.method,  # type: ignore[arg-type]
            n_permutations=request.permutations,
            **request.structure,
            strata=strata,
            name=name,
            random_state=request.seed,
            n_jobs=jobs,
            progress=progress,
        )
    return replace(found, settings=request.describe(found.settings, prepared))


def _take_column(X: Any, column: str) -> tuple[Any, Any]:
    """Return a column and the table without it."""
    from veridical._core.errors import InputError
    from veridical._core.lazy import is_lazy
    from veridical._core.text import did_you_mean, listed

    known = [str(name) for name in getattr(X, "columns", ())]
    if is_lazy(X):
        known = [*known, *X.side_columns]
    if column not in known:
        raise InputError(
            f"--strata {column}: there is no such column{did_you_mean(column, known)} "
            f"The columns are {listed(known)}."
        )
    if is_lazy(X):
        return X.column(column), X.drop([column])
    place = known.index(column)
    kept = [i for i in range(len(known)) if i != place]
    return X.iloc[:, place].to_numpy(), X.iloc[:, kept]
