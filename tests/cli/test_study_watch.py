"""A page that follows a study: what it says, and whom it answers."""

import json
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from http.client import HTTPConnection

import pytest

from veridical._records import InputError
from veridical.cli.study_watch import Watcher, serve
from veridical.experiments import Serial, Store, Writer, parse_where, run_study
from veridical.papers import find_study
from veridical.report import watch


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A study of which a part is done."""
    path = tmp_path_factory.mktemp("watch") / "in-vs-out.sqlite"
    study = find_study("in-vs-out")
    where = parse_where(["source=monks-1", "set=0"])
    run_study(study, study.plan("smoke", 0), path, executor=Serial(), where=where)
    return path


@pytest.fixture
def server(store):
    watcher = Watcher(store)
    with serve(watcher, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server, where):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{where}") as got:
        return got.headers, got.read().decode()


def test_the_page_says_how_far_it_is(server, store):
    _, state = get(server, "/state.json")
    state = json.loads(state)
    with Store(store) as opened:
        assert state["ok"] == len(opened)
    assert state["planned"] == state["ok"] + state["failed"] + state["pending"]
    assert state["pending"] > 0
    headers, page = get(server, "/")
    share = round(100 * state["ok"] / state["planned"])
    assert f"in-vs-out is at {share}\N{NO-BREAK SPACE}%: {state['ok']} of" in page
    assert 'http-equiv="refresh"' in page
    assert headers["Cache-Control"] == "no-store"
    assert "connect-src 'self'" in page


def test_findings_and_the_whole_report(server):
    state = json.loads(get(server, "/state.json")[1])
    statements = [check["statement"] for check in state["findings"]["checks"]]
    assert statements
    _, page = get(server, "/")
    assert len(re.findall("<tr><th scope=.row", page)) >= len(statements)
    assert "The paper's findings" in get(server, "/report")[1]


def test_it_listens_to_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", "/", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 403
    connection.close()
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(server, "/../../etc/passwd")
    assert caught.value.code == 404


def test_the_page_moves_on(store, tmp_path):
    path = tmp_path / "copy.sqlite"
    with Store(store) as opened, opened.snapshot():
        shutil.copy(store, path)
    watcher = Watcher(path)
    before = watcher.state["ok"]
    study = find_study("in-vs-out")
    where = parse_where(["source=monks-2", "set=0"])
    run_study(study, study.plan("smoke", 0), path, executor=Serial(), where=where)
    watcher.look()
    assert watcher.state["ok"] > before
    assert watcher.state["cells_per_second"] > 0
    assert "left" in watch.headline(watcher.state)


def test_names_and_details_are_only_text():
    bad = "<img src=x onerror=alert(1)>"
    state = {
        "study": bad,
        "store": bad,
        "planned": 9,
        "ok": 1,
        "failed": 1,
        "pending": 7,
        "cells_per_second": None,
        "seconds_left": None,
        "failures": [{"status": "error", "cell": {bad: bad}, "detail": bad}],
        "looked": "12:00:00",
        "trouble": bad,
        "findings": None,
    }
    page = watch.page(state)
    assert "<img" not in page
    assert "&lt;img src=x" in page
    done = {**state, "pending": 0, "planned": 2}
    assert "complete: all 2 cells; 1 failed" in watch.headline(done)
    assert 'http-equiv="refresh"' not in watch.page(done)


def test_what_cannot_be_watched(run, tmp_path):
    result = run("study", "watch", tmp_path / "none.sqlite")
    assert result.exit_code == 2
    assert "There is no store" in result.stderr
    Writer(tmp_path / "empty.sqlite").close()
    with pytest.raises(InputError, match="does not say which study"):
        Watcher(tmp_path / "empty.sqlite")


def test_a_port_that_is_taken(server, store):
    with pytest.raises(InputError, match=r"cannot be used.*--port"):
        serve(Watcher(store), server.server_port)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here")
def test_a_browser_shows_it(server, tmp_path):
    shot = tmp_path / "watch.png"
    shown = subprocess.run(
        [
            *("chromium", "--headless", "--no-sandbox", "--disable-gpu"),
            *("--window-size=1000,1400", f"--screenshot={shot}", "--dump-dom"),
            *("--timeout=4000", f"http://127.0.0.1:{server.server_port}/"),
        ],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert "in-vs-out is at" in shown.stdout
    assert "CONSOLE" not in shown.stderr
