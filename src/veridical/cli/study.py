"""``veridical study``: run the experiment of a paper, and manage its store."""

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
from veridical.cli.commands import OUTPUT_PANEL, WORK_PANEL, Group, Verb
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from veridical._core.progress import Reporter
    from veridical.cli.answers import FailedCell
    from veridical.experiments import Progress, RunReport, StudyReport
    from veridical.experiments.executors import Executor

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Run the experiment of a paper; it can be stopped and resumed.",
)


@app.command("list", cls=Verb)
def list_studies(
    as_json: Annotated[bool, options.json_option("study list")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """List the studies."""
    console.set_quiet(quiet)
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
        "study run --all --scale paper --jobs 2 --out papers",
    ),
)
def run(
    name: study_options.NamesOption = None,
    every: Annotated[
        bool,
        options.flag("--all", "Run the studies of all papers, one after the other."),
    ] = False,
    scale: study_options.ScaleOption = None,
    spec: study_options.SpecOption = None,
    store: study_options.StoreOption = None,
    where: study_options.ConditionsOption = None,
    jobs: options.JobsOption = 1,
    dask: Annotated[
        str | None,
        study_options.work_option(
            "ADDRESS",
            "Use the Dask scheduler at this address; local starts one here.",
        ),
    ] = None,
    seed: study_options.StudySeedOption = None,
    limit_time: Annotated[
        str | None,
        study_options.work_option(
            "TIME", "Stop after this time (90s, 30m, 8h); finished cells are saved."
        ),
    ] = None,
    limit_cell: Annotated[
        str,
        study_options.work_option(
            "TIME", r"Time limit of a cell; beyond it the cell fails. \[default: 10m]"
        ),
    ] = "10m",
    limit_memory: Annotated[
        str | None,
        study_options.work_option(
            "SIZE", "Memory limit of a cell (500M, 4G); beyond it the cell fails."
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Retry failed cells.",
            rich_help_panel=WORK_PANEL,
        ),
    ] = False,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("study run")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Run or resume studies; stored cells are not computed again.

    With several studies each has its own store, NAME.sqlite; --store and --out
    then name folders, and the report index.html shows the findings of all. Ctrl-C
    saves finished cells. The exit status is 0 for success, 1 when cells failed, 2
    when a study cannot run, 130 after Ctrl-C; with several studies, the highest.
    """
    console.set_quiet(quiet)
    from veridical.cli import study_report

    names = study_options.choose_studies(name, every)
    several = len(names) > 1
    if several and spec is not None:
        raise InputError(f"--spec {spec} belongs to one study; name that one alone.")
    options.check_numbers(0, jobs)
    limits, stop_at = study_options.limits(limit_cell, limit_memory, limit_time)
    answers, reports, worst = [], [], 0
    for one in names:
        work = partial(
            _run_one,
            one,
            store=study_options.path_of_study(store, one, ".sqlite", len(names)),
            out=study_options.path_of_study(out, one, ".html", len(names)),
            choice=(scale, spec, seed),
            where=where,
            executor=partial(study_options.executor, jobs, dask, limits),
            retry_failed=retry_failed,
            stop_at=stop_at,
            as_text=not as_json,
        )
        try:
            answer, found, status = work()
        except InputError as error:
            if not several:
                raise
            console.note(f"{one}: {error}", on_stderr=True)
            answer, found, status = None, None, 2
        except typer.Exit as ended:  # the reason was printed
            if not several:
                raise
            answer, found, status = None, None, ended.exit_code
        answers += [answer] if answer else []
        reports += [found] if found else []
        worst = max(worst, status)
        if status == interrupts.STATUS:
            break
    if several and out is not None and reports:
        index = out / "index.html"
        study_report.write_summary(reports, names, index, as_text=not as_json)
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
    as_text: bool,
) -> tuple[dict[str, Any], StudyReport | None, int]:
    """Run one study; return its answer in JSON, its findings, and the exit status."""
    path = store or Path(f"{name}.sqlite")
    study_options.refuse_if_locked(path)

    from veridical.cli import study_report
    from veridical.experiments import parse_where, run_study
    from veridical.papers import find_study

    study = find_study(name)
    console.check_page(out)
    chosen = study_options.read_spec(study, *choice)
    study_report.print_notices(study, chosen)
    conditions = parse_where(where or [])
    with study_options.errors_printed():
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
            **_count_fields(report.counts),
            "computed": report.computed,
            "seconds": report.seconds,
            "working": report.working,
            "stopped": report.stopped,
        }
        if as_text:
            _print_report(report, path)
            study_report.print_findings(found, out)
        else:
            answer |= study_report.as_json(found, out)
    failed = 1 if report.counts.failed else 0
    return answer, found, interrupts.STATUS if stopped else failed


@app.command(cls=Verb, epilog=options.examples("study show in-vs-out --out page.html"))
def show(
    name: study_options.NameOption,
    scale: study_options.ScaleOption = None,
    spec: study_options.SpecOption = None,
    store: study_options.StoreOption = None,
    where: study_options.ConditionsOption = None,
    seed: study_options.StudySeedOption = None,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("study show")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Show what a study varies, its progress and its findings."""
    from veridical.cli import study_report
    from veridical.experiments import parse_where
    from veridical.papers import find_study

    console.set_quiet(quiet)
    study = find_study(name)
    console.check_page(out)
    path = store or Path(f"{name}.sqlite")
    chosen: Any = study_options.read_spec(study, scale, spec, seed)
    study_report.print_notices(study, chosen)
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
            **_count_fields(counts),
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
    study_report.print_findings(found, out)


@app.command(cls=Verb)
def verify(
    store: study_options.FileOption,
    as_json: Annotated[bool, options.json_option("study verify")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Verify that a store is unchanged; exit status 1 if not."""
    console.set_quiet(quiet)
    from dataclasses import asdict

    from veridical.experiments import verify as inspect

    found = inspect(store)
    if as_json:
        answer = {"schema": "veridical/study-verify/1", "store": str(store)}
        console.dump({**answer, "ok": found.ok, **asdict(found)})
    elif found.ok:
        typer.echo(f"{store}: all {found.n_rows} rows are unchanged.")
    else:
        for what in ("altered", "missing", "extra"):
            for number in getattr(found, what):
                typer.echo(f"row {number} is {what}")
        for sentence in found.damage:
            typer.echo(in_one_line(sentence))
        typer.echo(
            f"{store} is damaged. Use a backup, or run the study with a new store."
        )
    raise typer.Exit(0 if found.ok else 1)


@app.command(
    cls=Verb,
    epilog=options.examples("study export in-vs-out.sqlite --out cells.csv"),
)
def export(
    store: study_options.FileOption,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The file to write: .csv, .parquet, .json or .jsonl.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ],
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical",
            help="Without times and hosts: the same bytes for the same study.",
            rich_help_panel=OUTPUT_PANEL,
        ),
    ] = False,
    as_json: Annotated[bool, options.json_option("study export")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write the results of a store to a file."""
    console.set_quiet(quiet)
    from veridical.experiments import Store
    from veridical.experiments import export as write

    with Store(store) as opened:
        count = write(opened, out, canonical=canonical)
    if as_json:
        answer = {"schema": "veridical/study-export/1", "store": str(store)}
        done = {"path": str(out), "canonical": canonical, "n_cells": count}
        console.dump({**answer, **done})
        return
    typer.echo(f"{count} cells were written to {out}")


@app.command(cls=Verb)
def watch(
    store: study_options.FileOption,
    port: Annotated[
        int,
        options.method_option("N", help="Port on this machine; 0 takes any free port."),
    ] = 0,
    as_json: Annotated[bool, options.json_option("study watch")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Show the progress of a study on a local web page, until Ctrl-C."""
    console.set_quiet(quiet)
    import threading

    from veridical.cli.study_watch import Watcher, make_server

    watcher, stop = Watcher(store), threading.Event()
    with make_server(watcher, port) as server:
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
            console.note(
                "The page is closed; the study is not affected.", on_stderr=as_json
            )
        finally:
            stop.set()


# -- output --------------------------------------------------------------------------


def _watch(reporter: Reporter, progress: Progress) -> None:
    """Report the progress of a run, and its last failure."""
    counts, text = progress.counts, str(progress)
    if progress.failures:
        last = progress.failures[-1]
        cell = json.dumps(dict(last.cell.coordinates))
        text += f"; last failure: {last.status}: {cell}: {last.detail or ''}"
    reporter(counts.planned - progress.left, counts.planned, in_one_line(text))


def _look(
    study: Any, spec: Any, path: Path, conditions: Any, *, required: bool
) -> tuple[Any, list[FailedCell]]:
    """Return the counts of a plan, and the cells that failed."""
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


def _count_fields(counts: Any) -> dict[str, int]:
    return {
        what: getattr(counts, what) for what in ("planned", "ok", "failed", "pending")
    }


def _print_report(report: RunReport, path: Path) -> None:
    from veridical._core.numbers import duration

    counts = report.counts
    typer.echo(
        f"{counts}; {report.computed} computed in {duration(report.seconds)}, in {path}"
    )
    if report.stopped:
        why = {"signal": "Stopped", "time": "Time limit reached"}[report.stopped]
        again = shlex.join(["veridical", *sys.argv[1:]])
        typer.echo(f"{why}; finished cells are saved. To resume: {again}")
    elif counts.failed:
        typer.echo(
            "Some cells failed: veridical study show lists them, --retry-failed "
            "retries them."
        )
