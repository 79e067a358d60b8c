"""A page that follows a study: what it says, and whom it answers."""

import json
import re
import shutil
import threading
import urllib.error
import urllib.request
from html import unescape
from http.client import HTTPConnection

import pytest

from veridical._core.errors import InputError
from veridical.cli import study_watch
from veridical.cli.study_watch import Watcher, make_server
from veridical.experiments import Serial, Store, Writer, parse_where, run_study
from veridical.papers import find_study
from veridical.report.render import html
from veridical.report.views import study as watch


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
    with make_server(watcher, 0) as server:
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
    assert "connect-src &#39;self&#39;" in page


def test_findings_and_the_whole_report(server):
    state = json.loads(get(server, "/state.json")[1])
    statements = [check["statement"] for check in state["findings"]["checks"]]
    assert statements
    _, page = get(server, "/")
    assert len(re.findall("<tr><th scope=.row", page)) >= len(statements)
    assert len(state["unchanged"]) == len(statements)
    whole = unescape(re.sub("<[^>]*>", "", get(server, "/report")[1]))
    assert "The paper's findings" in whole
    assert "veridical study run in-vs-out --scale smoke --seed 0 --store" in whole
    assert "Cells and their data, SHA-256" in whole


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
    watcher.update()
    came = watcher.state["ok"] - before
    assert came > 0
    assert set(watcher.state["unchanged"]) <= {0, came}
    assert watcher.state["cells_per_second"] > 0
    assert "left" in watch.progress(watcher.state)


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
    page = html.page(watch.watch(state))
    assert "<img" not in page
    assert "&lt;img src=x" in page
    done = {**state, "pending": 0, "planned": 2}
    assert "complete: all 2 cells; 1 failed" in watch.progress(done)
    assert 'http-equiv="refresh"' not in html.page(watch.watch(done))


def test_what_cannot_be_watched(run, tmp_path):
    result = run("study", "watch", tmp_path / "none.sqlite")
    assert result.exit_code == 2
    assert "There is no store" in result.stderr
    Writer(tmp_path / "empty.sqlite").close()
    with pytest.raises(InputError, match="does not say which study"):
        Watcher(tmp_path / "empty.sqlite")


def test_a_port_that_is_taken(server, store):
    with pytest.raises(InputError, match=r"cannot be used.*--port"):
        make_server(Watcher(store), server.server_port)


class Failing:
    """A study none of whose cells works out, and whose errors are rude."""

    def __init__(self, study):
        self._study = study

    def __getattr__(self, name):
        return getattr(self._study, name)

    def run(self, unit):
        raise ValueError("<img src=x onerror=alert(1)> there is nothing to select")


def test_browser_shows_the_updates(store, tmp_path, browser, monkeypatch):
    """Progress, failures and findings come in while a store is written."""
    monkeypatch.setattr(study_watch, "_PAUSE", 0.1)
    monkeypatch.setattr(watch, "REFRESH", 0.2)
    path = tmp_path / "live.sqlite"
    with Store(store) as opened, opened.snapshot():
        shutil.copy(store, path)
    study = find_study("in-vs-out")
    spec = study.plan("smoke", 0)
    watcher, stop = Watcher(path), threading.Event()
    followed = threading.Thread(target=watcher.follow, args=(stop,), daemon=True)
    with make_server(watcher, 0) as server, browser.tab() as tab:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        followed.start()
        tab.open(f"http://127.0.0.1:{server.server_port}/")
        assert "in-vs-out is at" in tab.run(HEADLINE)
        assert tab.run("document.querySelectorAll('.vd-box').length") > 3
        tab.run("window.mark = 'the same page'; scrollTo(0, 200)")
        before = done(tab)

        run_study(study, spec, path, executor=Serial(), where=only("monks-2"))
        tab.until(f"({DONE}) > {before}")
        assert tab.run("mark + scrollY") == "the same page200"
        assert "left" in tab.run(HEADLINE)

        run_study(Failing(study), spec, path, executor=Serial(), where=only("monks-3"))
        rude = "there is nothing to select"
        tab.until(f"document.body.textContent.includes('{rude}')")
        assert tab.run("document.querySelectorAll('img').length") == 0
        assert tab.run("document.querySelectorAll('th .vd-sort').length") > 0

        stop.set()
        followed.join()
        pause = "document.querySelector('.vd-live-pause')"
        tab.point(pause, click=True)
        paused = done(tab)
        watcher.state = {**watcher.state, "pending": 1}
        later = f"new Promise((r) => setTimeout(r, 600)).then(() => {DONE})"
        assert tab.run(later, wait=True) == paused
        assert "Paused" in tab.run(
            "document.querySelector('[role=status]').textContent"
        )
        tab.point(pause, click=True)
        tab.until(f"({DONE}) === {watcher.state['planned'] - 1}")

        watcher.state = {**watcher.state, "pending": 0}
        tab.until(f"({HEADLINE}).includes('is complete')")
        tab.until(f"{pause}.hidden")
        own = f"http://127.0.0.1:{server.server_port}/"
        assert set(tab.requests) == {own}
        assert tab.complaints == []
        server.shutdown()
        thread.join()


def test_page_shows_that_the_server_does_not_answer(store, browser, monkeypatch):
    monkeypatch.setattr(watch, "REFRESH", 0.2)
    server = make_server(Watcher(store), 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with browser.tab() as tab:
        tab.open(f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
        server.server_close()
        thread.join()
        status = "document.querySelector('.vd-live-status').textContent"
        assert "was closed" in tab.until(status)
        assert "in-vs-out is at" in tab.run(HEADLINE)


HEADLINE = "document.querySelector('h1').textContent"
DONE = "document.querySelector('progress').value"


def done(tab):
    return tab.run(DONE)


def only(source):
    return parse_where([f"source={source}", "set=0"])
