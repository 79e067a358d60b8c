"""``veridical study``: run a paper's experiment, and look after its record."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical._core import interrupts
from veridical._core.errors import InputError
from veridical.cli import console, options, study_options
from veridical.cli.commands import ANSWER, WORK, Group, Verb
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from veridical._core.progress import Reporter
    from veridical.cli.answers import FailedCell
    from veridical.experiments import Progress, RunReport
    from veridical.experiments.executors import Executor

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Run a paper's experiment; it can be stopped, and goes on later.",
)


@app.command("list", cls=Verb)
def list_studies(
    as_json: Annotated[bool, options.json_option("study list")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Which studies are there?"""
    console.be(quiet=quiet)
    from veridical.papers import available

    studies = available()
    if as_json:
        console.dump(studies)
        return
    for name, question in studies.items():
        typer.echo(f"{name}: {question}")


@app.command(
    cls=Verb,
    epilog=options.examples(
        "study run in-vs-out --scale smoke --out page.html",
        "study run lufe --scale laptop --jobs -1 --limit-time 8h",
        "study run --all --out pages",
    ),
)
def run(
    name: study_options.Names = None,
    every: Annotated[
        bool,
        options.flag("--all", "Run all studies, one after the other."),
    ] = False,
    scale: study_options.Scale = None,
    spec: study_options.Spec = None,
    store: study_options.Store = None,
    where: study_options.Where = None,
    jobs: options.Jobs = 1,
    dask: Annotated[
        str | None,
        study_options.work(
            "ADDRESS",
            "Work on the Dask scheduler at this address; local starts one here.",
        ),
    ] = None,
    seed: study_options.Seed = None,
    limit_time: Annotated[
        str | None,
        study_options.work(
            "TIME", "Stop after so long (90s, 30m, 8h) and keep what is done."
        ),
    ] = None,
    limit_cell: Annotated[
        str,
        study_options.work(
            "TIME", r"A cell that takes longer has failed. \[default: 10m]"
        ),
    ] = "10m",
    limit_memory: Annotated[
        str | None,
        study_options.work("SIZE", "A cell that needs more (500M, 4G) has failed."),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Try failed cells once more.", rich_help_panel=WORK
        ),
    ] = False,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("study run")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Run studies, or go on with them: what is in the store is not done again.

    Of several studies each has its own store, NAME.sqlite; --store and --out
    then name folders. Ctrl-C saves what is finished. The exit status is 0 when
    all went well, 1 when cells failed, 2 when a study cannot be run, 130 after
    Ctrl-C; of several studies, the worst.
    """
    console.be(quiet=quiet)
    names = study_options.choose(name, every)
    several = len(names) > 1
    if several and spec is not None:
        raise InputError(f"--spec {spec} belongs to one study; name that one alone.")
    options.check_numbers(0, jobs)
    limits, stop_at = study_options.limits(limit_cell, limit_memory, limit_time)
    answers, worst = [], 0
    for one in names:
        work = partial(
            _run_one,
            one,
            store=study_options.place(store, one, ".sqlite", len(names)),
            out=study_options.place(out, one, ".html", len(names)),
            choice=(scale, spec, seed),
            where=where,
            executor=partial(study_options.executor, jobs, dask, limits),
            retry_failed=retry_failed,
            stop_at=stop_at,
            aloud=not as_json,
        )
        try:
            answer, status = work()
        except InputError as error:
            if not several:
                raise
            console.tell(f"{one}: {error}", aside=True)
            answer, status = None, 2
        except typer.Exit as ended:  # what stopped the engine was told
            if not several:
                raise
            answer, status = None, ended.exit_code
        answers += [answer] if answer else []
        worst = max(worst, status)
        if status == interrupts.STATUS:
            break
    if as_json:
        said: Any = answers if several else answers[0]
        console.dump(said)
    raise typer.Exit(worst)


def _run_one(
    name: str,
    *,
    store: Path | None,
    out: Path | None,
    choice: tuple[str | None, Path | None, int | None],
    where: list[str] | None,
    executor: Callable[[], Executor],
    retry_failed: bool,
    stop_at: float | None,
    aloud: bool,
) -> tuple[dict[str, Any], int]:
    """Run one study; return its answer in JSON, and the exit status."""
    path = store or Path(f"{name}.sqlite")
    study_options.refuse_if_held(path)

    from veridical.cli import study_report
    from veridical.experiments import parse_where, run_study

    study = study_options.find(name)
    study_report.check_page(out)
    chosen = study_options.read_spec(study, *choice)
    study_report.tell_notices(study, chosen)
    conditions = parse_where(where or [])
    with study_options.told():
        with console.progress_bar(name) as progress:
            report = run_study(
                study,
                chosen,
                path,
                executor=executor(),
                where=conditions,
                retry_failed=retry_failed,
                limit_seconds=study_options.seconds_until(stop_at),
                watch=partial(_watch, progress) if progress else None,
            )
        stopped = report.stopped == "signal"
        found = None if stopped else study_report.find(study, chosen, path)
        answer = {
            "schema": "veridical/study-run/1",
            "study": name,
            "store": str(path),
            **_numbers(report.counts),
            "computed": report.computed,
            "seconds": report.seconds,
            "working": report.working,
            "stopped": report.stopped,
        }
        if aloud:
            _tell(report, path)
            study_report.tell(found, out)
        else:
            answer |= study_report.as_json(found, out)
    failed = 1 if report.counts.failed else 0
    return answer, interrupts.STATUS if stopped else failed


@app.command(cls=Verb, epilog=options.examples("study show in-vs-out --out page.html"))
def show(
    name: study_options.Name,
    scale: study_options.Scale = None,
    spec: study_options.Spec = None,
    store: study_options.Store = None,
    where: study_options.Where = None,
    seed: study_options.Seed = None,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("study show")] = False,
    quiet: options.Quiet = False,
) -> None:
    """What does a study vary, how far is it, and what has it found?"""
    from veridical.cli import study_report
    from veridical.experiments import parse_where

    console.be(quiet=quiet)
    study = study_options.find(name)
    study_report.check_page(out)
    path = store or Path(f"{name}.sqlite")
    chosen: Any = study_options.read_spec(study, scale, spec, seed)
    study_report.tell_notices(study, chosen)
    absent = list(study.absences(path)) if path.exists() else []
    conditions = parse_where(where or [])
    counts, failures = _look(study, chosen, path, conditions, required=bool(store))
    found = study_report.find(study, chosen, path)
    if as_json:
        answer = {
            "schema": "veridical/study-show/1",
            "study": name,
            "store": str(path),
            "spec": chosen.model_dump(mode="json"),
            **_numbers(counts),
            "failures": failures,
            "absent": absent,
        }
        console.dump({**answer, **study_report.as_json(found, out)})
        return
    typer.echo(f"{name}, store {path}")
    for key, value in chosen.model_dump(mode="json").items():
        typer.echo(f"  {key}: {in_one_line(json.dumps(value))}")
    typer.echo(str(counts))
    for sentence in absent:
        typer.echo(in_one_line(sentence))
    for failure in failures:
        cell = ", ".join(f"{key} {value}" for key, value in failure["cell"].items())
        words = f"  {failure['status']}: {cell}: {failure['detail'] or ''}"
        typer.echo(in_one_line(words))
    study_report.tell(found, out)


@app.command(cls=Verb)
def verify(
    store: study_options.File,
    as_json: Annotated[bool, options.json_option("study verify")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Is everything in a store as it was written? Exit status 1 if not."""
    console.be(quiet=quiet)
    from dataclasses import asdict

    from veridical.experiments import verify as inspect

    found = inspect(store)
    if as_json:
        answer = {"schema": "veridical/study-verify/1", "store": str(store)}
        console.dump({**answer, "ok": found.ok, **asdict(found)})
    elif found.ok:
        typer.echo(f"{store}: all {found.n_rows} rows are as they were written.")
    else:
        for what in ("altered", "missing", "extra"):
            for number in getattr(found, what):
                typer.echo(f"row {number} is {what}")
        for sentence in found.damage:
            typer.echo(in_one_line(sentence))
        typer.echo(
            f"{store} is damaged. Take it from a copy, or run the study to a new store."
        )
    raise typer.Exit(0 if found.ok else 1)


@app.command(
    cls=Verb,
    epilog=options.examples("study export in-vs-out.sqlite --out cells.csv"),
)
def export(
    store: study_options.File,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where to: .csv, .parquet, .json or .jsonl.",
            rich_help_panel=ANSWER,
        ),
    ],
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical",
            help="Sorted, without times and hosts: the same bytes for the same study.",
            rich_help_panel=ANSWER,
        ),
    ] = False,
    as_json: Annotated[bool, options.json_option("study export")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the results of a store to a table."""
    console.be(quiet=quiet)
    from veridical.experiments import Store
    from veridical.experiments import export as write

    with Store(store) as opened:
        count = write(opened, out, canonical=canonical)
    if as_json:
        answer = {"schema": "veridical/study-export/1", "store": str(store)}
        done = {"path": str(out), "canonical": canonical, "n_cells": count}
        console.dump({**answer, **done})
        return
    typer.echo(f"{count} cells are in {out}")


@app.command(cls=Verb)
def watch(
    store: study_options.File,
    port: Annotated[
        int,
        options.asked("N", help="Where on this machine; 0 takes any that is free."),
    ] = 0,
    as_json: Annotated[bool, options.json_option("study watch")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Follow a running study on a page of this machine, until Ctrl-C."""
    console.be(quiet=quiet)
    import threading

    from veridical.cli.study_watch import Watcher, serve

    watcher, stop = Watcher(store), threading.Event()
    with serve(watcher, port) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        if as_json:
            answer = {"schema": "veridical/study-watch/1", "store": str(store)}
            console.dump({**answer, "url": url})
        else:
            typer.echo(f"{store} is shown at {url} until Ctrl-C.")
        threading.Thread(target=watcher.follow, args=(stop,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            console.tell(
                "The page is closed; the study is not affected.", aside=as_json
            )
        finally:
            stop.set()


# -- what is told --------------------------------------------------------------------


def _watch(reporter: Reporter, progress: Progress) -> None:
    """Report where a run stands, and what failed last."""
    counts, text = progress.counts, str(progress)
    for last in list(progress.failures)[-1:]:
        cell = json.dumps(dict(last.cell.coordinates))
        text += f"; last failure: {last.status}: {cell}: {last.detail or ''}"
    reporter(counts.planned - progress.left, counts.planned, in_one_line(text))


def _look(
    study: Any, spec: Any, path: Path, conditions: Any, *, required: bool
) -> tuple[Any, list[FailedCell]]:
    """Count the cells of a plan, and list those that failed."""
    from veridical.experiments import Plan, Store

    if not required and not path.exists():
        return Plan(study, spec, where=conditions).counts, []
    with Store(path) as opened:
        plan = Plan(study, spec, opened.keys(), conditions)
        failures: list[FailedCell] = [
            {"cell": json.loads(row.cell), "status": row.status, "detail": row.detail}
            for row in opened.failures()
        ]
    return plan.counts, failures


def _numbers(counts: Any) -> dict[str, int]:
    return {what: getattr(counts, what) for what in _COUNTED}


_COUNTED = ("planned", "ok", "failed", "pending")


def _tell(report: RunReport, path: Path) -> None:
    from veridical._core.numbers import duration

    counts = report.counts
    typer.echo(
        f"{counts}; {report.computed} computed in {duration(report.seconds)}, in {path}"
    )
    if report.stopped:
        why = {"signal": "Stopped", "time": "The time is up"}[report.stopped]
        again = shlex.join(["veridical", *sys.argv[1:]])
        typer.echo(f"{why}; what is finished is saved. To go on: {again}")
    elif counts.failed:
        typer.echo(
            "Cells failed: veridical study show tells which, --retry-failed tries them "
            "once more."
        )
