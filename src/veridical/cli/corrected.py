"""``veridical select --corrected``: probabilities that know what was discarded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from veridical.cli import console, options

if TYPE_CHECKING:
    from veridical.evaluation.records import Correction
    from veridical.report.correction_schema import CorrectionSummary

# Where no data are given: the model's own source.
SOURCE, N_CASES, N_COLUMNS = "beta-bernoulli", 200, 2000


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes."""

    data: Path | None
    target: str | None
    features: int | None
    folds: int
    seed: int

    def command(self) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        more: list[object] = ["--corrected", "--features", self.features]
        more += ["--folds", self.folds, "--seed", self.seed]
        return options.command("select", self.data, self.target, *more)


def check_words(selector: str | None, others: dict[str, Any]) -> None:
    """Refuse what the corrected model does not ask for.

    Parameters
    ----------
    selector : str or None
        What was named; the correction is for selection by correlation.
    others : mapping of str to value
        Options that have no meaning here, None where they were not given.
    """
    from veridical._core.errors import InputError

    if selector not in (None, "correlation"):
        raise InputError(
            f"--corrected is for selection by correlation, not by {selector}; leave "
            "out --selector."
        )
    for name, value in others.items():
        if value is not None:
            raise InputError(
                f"--{name} {value} has no meaning with --corrected, whose learner is "
                "naive Bayes on the most correlated features; leave it out."
            )


def run(question: Question, out: Path | None, *, as_json: bool) -> None:
    """Select by correlation, and show what the correction changes."""
    from veridical import report

    if out is not None:
        report.check_writable(out)
    if question.data is None:
        console.tell(
            f"No data given, so this is the {SOURCE} source: {N_CASES} cases, "
            f"{N_COLUMNS} weak features.",
            aside=as_json,
        )
    record = _record(question)
    page = None if out is None else report.save(record, out)
    summary: Any = report.to_json(record)
    if as_json:
        console.print_json(summary, page)
        return
    _show(summary)
    if page is not None:
        typer.echo(f"The report is in {page}")


def _record(question: Question) -> Correction:
    from veridical.datasets import make_beta_bernoulli
    from veridical.evaluation import correction

    if question.data is None:
        X, y = make_beta_bernoulli(N_CASES, N_COLUMNS, random_state=question.seed)
        name = f"{SOURCE} source"
    else:
        X, y, name = options.take(question.data, question.target)
    features = options.how_many(question.features, X.shape[1])
    question = replace(question, features=features)
    found = correction(
        X,
        y,
        n_features=features,
        n_folds=question.folds,
        random_state=question.seed,
        name=name,
    )
    repeat = question.command()
    settings = options.with_origin(found.settings, question.data, repeat)
    return replace(found, settings=settings)


def _show(summary: CorrectionSummary) -> None:
    from rich.console import Console
    from rich.text import Text

    from veridical._core.numbers import count, percent

    terminal = Console(highlight=False)
    data = summary["data"]
    table = console._new_table(
        f"Naive Bayes on {count(summary['n_features'], 'feature')} of "
        f"{data['n_features']} from {data['name']}, {count(data['n_samples'], 'case')}"
    )
    for header in ("Model", "Error rate", "It expects", "Minus log probability", "α"):
        table.add_column(header, justify="left" if header == "Model" else "right")
    for model in summary["models"]:
        row = (
            model["label"],
            percent(model["error"]),
            percent(model["expected_error"]),
            f"{model['log_loss']:.3f}",
            f"{model['alpha']:.3g}",
        )
        table.add_row(*map(Text, row))
    terminal.print(table)
    terminal.print(_bins(summary))
    terminal.print(Text(summary["verdict"]))


def _bins(summary: CorrectionSummary) -> Any:
    """Cases, promised and observed, by tenths."""
    from rich.text import Text

    from veridical._core.numbers import percent

    table = console._new_table(
        f"Probability of {summary['models'][0]['positive']}: cases, promised, observed"
    )
    table.add_column("Probability")
    for model in summary["models"]:
        for header in (model["label"], "promised", "observed"):
            table.add_column(header, justify="right")
    pairs = zip(*(model["bins"] for model in summary["models"]), strict=True)
    for bins in pairs:
        row = [f"{bins[0]['low']:.1f} to {bins[0]['high']:.1f}"]
        for one in bins:
            row += [str(one["n"]), percent(one["predicted"]), percent(one["observed"])]
        table.add_row(*map(Text, row))
    return table
