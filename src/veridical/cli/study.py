"""``veridical study``: run a paper's experiment, and look after its record."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import study_options as options
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from veridical.experiments import RunReport, Study
    from veridical.experiments.executors import Executor

app = typer.Typer(
    no_args_is_help=True,
    help="Run a paper's experiment: it can be stopped at any time and goes on later.",
)


@app.command("list")
def list_studies(as_json: options.Json = False) -> None:
    """Which studies are there?"""
    from veridical.papers import available

    studies = available()
    if as_json:
        typer.echo(json.dumps(studies, indent=2))
        return
    for name, question in studies.items():
        typer.echo(f"{name}: {question}")


@app.command()
def run(
    name: options.Name,
    scale: options.Scale = None,
    spec: options.Spec = None,
    store: options.Store = None,
    where: options.Where = None,
    jobs: Annotated[int, typer.Option(help="Processes at work; -1: all cores.")] = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Work on the Dask scheduler at this address; local starts one here.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = None,
    limit_time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Stop after so long (90s, 30m, 8h) and keep what is done.",
            show_default=False,
        ),
    ] = None,
    limit_cell: Annotated[
        str,
        typer.Option(metavar="TIME", help="A cell that takes longer has failed."),
    ] = "10m",
    limit_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="A cell that needs more (500M, 4G) has failed.",
            show_default=False,
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try failed cells once more.")
    ] = False,
    out: options.Out = None,
    as_json: options.Json = False,
) -> None:
    """Run a study, or go on with it: what the store holds is not computed again.

    Ctrl-C saves what is finished. The exit status is 0 when all went well, 1
    when cells failed, 130 after Ctrl-C.
    """
    path = store or Path(f"{name}.sqlite")
    _refuse_if_held(path)

    from veridical.cli import study_report
    from veridical.cli.watching import watching
    from veridical.experiments import Limits, parse_where, run_study

    study = _find(name)
    study_report.check_page(study, out)
    chosen = options.read_spec(study, scale, spec, seed)
    study_report.tell_notices(study, chosen)
    conditions = parse_where(where or [])
    limits = Limits(
        options.seconds(limit_cell, "--limit-cell"),
        options.size(limit_memory, "--limit-memory"),
    )
    time_allowed = options.seconds(limit_time, "--limit-time") if limit_time else None
    with _told():
        with watching(name) as watch:
            report = run_study(
                study,
                chosen,
                path,
                executor=_executor(jobs, dask, limits),
                where=conditions,
                retry_failed=retry_failed,
                limit_seconds=time_allowed,
                watch=watch,
            )
        stopped = report.stopped == "signal"
        found = None if stopped else study_report.find(study, chosen, path)
        more = study_report.as_json(found, out) if as_json else {}
        _tell(report, path, as_json, more)
        if not as_json:
            study_report.tell(found, out)
    if stopped:
        raise typer.Exit(130)
    raise typer.Exit(1 if report.counts.failed else 0)


@app.command()
def show(
    name: options.Name,
    scale: options.Scale = None,
    spec: options.Spec = None,
    store: options.Store = None,
    where: options.Where = None,
    seed: options.Seed = None,
    out: options.Out = None,
    as_json: options.Json = False,
) -> None:
    """What does a study vary, how far is it, and what has it found?"""
    from veridical.cli import study_report
    from veridical.experiments import Plan, Store, parse_where

    study = _find(name)
    study_report.check_page(study, out)
    path = store or Path(f"{name}.sqlite")
    chosen: Any = options.read_spec(study, scale, spec, seed)
    study_report.tell_notices(study, chosen)
    absent = study_report.absences(study, path)
    conditions = parse_where(where or [])
    failures: list[dict[str, Any]] = []
    if store is not None or path.exists():
        with Store(path) as opened:
            plan = Plan(study, chosen, opened.keys(), conditions)
            failures = [
                {"cell": json.loads(r.cell), "status": r.status, "detail": r.detail}
                for r in opened.failures()
            ]
    else:
        plan = Plan(study, chosen, where=conditions)
    counts = plan.counts
    found = study_report.find(study, chosen, path)
    if as_json:
        content = {
            "study": name,
            "store": str(path),
            "spec": chosen.model_dump(mode="json"),
            **_numbers(counts),
            "failures": failures,
            "absent": absent,
            **study_report.as_json(found, out),
        }
        typer.echo(json.dumps(content, indent=2))
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


@app.command()
def verify(store: options.File, as_json: options.Json = False) -> None:
    """Is everything in a store as it was written? Exit status 1 if it is not."""
    from dataclasses import asdict

    from veridical.experiments import verify as inspect

    found = inspect(store)
    if as_json:
        typer.echo(json.dumps({"ok": found.ok, **asdict(found)}, indent=2))
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


@app.command()
def export(
    store: options.File,
    out: Annotated[
        Path,
        typer.Option(help="Where to: .csv, .parquet, .json or .jsonl."),
    ],
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical",
            help="Sorted, without times and hosts: the same bytes for the same study.",
        ),
    ] = False,
) -> None:
    """Write the results of a store to a table."""
    from veridical.experiments import Store
    from veridical.experiments import export as write

    with Store(store) as opened:
        count = write(opened, out, canonical=canonical)
    typer.echo(f"{count} cells are in {out}")


@app.command()
def watch(
    store: options.File,
    port: Annotated[
        int, typer.Option(help="Where on this machine; 0 takes any that is free.")
    ] = 0,
) -> None:
    """Follow a running study on a page of this machine, until Ctrl-C."""
    import threading

    from veridical.cli.study_watch import Watcher, serve

    watcher, stop = Watcher(store), threading.Event()
    with serve(watcher, port) as server:
        typer.echo(
            f"{store} is shown at http://127.0.0.1:{server.server_port}/ until Ctrl-C."
        )
        threading.Thread(target=watcher.follow, args=(stop,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("The page is closed; the study is not affected.")
        finally:
            stop.set()


# -- from words to what the engine takes ---------------------------------------------


def _find(name: str) -> Study:
    from veridical.papers import find_study

    return find_study(name)


def _refuse_if_held(path: Path) -> None:
    """Say at once that another run has the store, before loading what takes time."""
    from veridical.experiments.lock import WriterLock

    if path.is_file():
        WriterLock(path).release()


def _executor(jobs: int, dask: str | None, limits: Any) -> Executor:
    import os

    from veridical.experiments import Cluster, Processes

    if jobs == -1:
        jobs = os.cpu_count() or 1
    if dask is None:
        return Processes(jobs, limits)
    return Cluster(None if dask == "local" else dask, jobs, limits)


@contextmanager
def _told() -> Iterator[None]:
    """Tell what stopped the engine in a sentence; no bad input, so status 1."""
    from veridical.experiments import StoreError, WorkerError

    try:
        yield
    except (StoreError, WorkerError) as error:
        typer.echo(f"veridical: {in_one_line(error)}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:  # a second Ctrl-C: no time to finish anything
        typer.echo("Stopped at once; what was saved before is intact.", err=True)
        raise typer.Exit(130) from None


# -- what is told at the end ---------------------------------------------------------


def _numbers(counts: Any) -> dict[str, int]:
    names = ("planned", "ok", "failed", "pending")
    return {name: getattr(counts, name) for name in names}


def _tell(report: RunReport, path: Path, as_json: bool, found: dict[str, Any]) -> None:
    from veridical.experiments.progress import duration

    counts = report.counts
    if as_json:
        content = {
            **_numbers(counts),
            "computed": report.computed,
            "seconds": report.seconds,
            "working": report.working,
            "stopped": report.stopped,
            "store": str(path),
            **found,
        }
        typer.echo(json.dumps(content, indent=2))
        return
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
