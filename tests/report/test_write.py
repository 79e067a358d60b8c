"""A page is there whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest
from tests.report import records

from veridical import report
from veridical._core.errors import InputError
from veridical.report import files


def test_save_returns_the_path_and_leaves_nothing_else(tmp_path):
    path = records.honest().save(tmp_path / "page.html")

    assert path == tmp_path / "page.html"
    assert path.read_bytes().startswith(b"<!doctype html>")
    assert os.listdir(tmp_path) == ["page.html"]


def test_an_older_page_is_replaced_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    seen = []
    rename = os.replace

    def spy(source, target):
        seen.append((path.read_text(), source.read_text()))
        rename(source, target)

    monkeypatch.setattr(files.os, "replace", spy)
    report.save(records.honest(), path)

    (before, ready), *rest = seen
    assert rest == []
    assert before == "old"
    assert ready == path.read_text()


def test_a_failure_keeps_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)

    with pytest.raises(InputError, match="No space left on device"):
        report.save(records.honest(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("name", ["page.docx", "page.XLSX", "table.txt"])
def test_another_format_is_refused_in_words(tmp_path, name):
    for write in (report.check_writable, records.honest().save):
        with pytest.raises(InputError, match=r"no record is written as \.\w+; end the"):
            write(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_page_has_the_usual_rights(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    page = report.save(records.honest(), tmp_path / "page.html")

    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "page.html"
    target.write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to(target)

    report.save(records.honest(), link)

    assert link.is_symlink()
    assert target.read_text().startswith("<!doctype html>")


def test_check_leaves_no_trace(tmp_path):
    path = tmp_path / "page.html"

    files.check_writable(path)

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere/page.html", "make the folder first"),
        ("folder", "that is a folder"),
        ("file/page.html", "make the folder first"),
        ("pipe", "a device or a pipe"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.parametrize("write", [files.check_writable, None])
def test_impossible_places_are_named_with_the_cure(tmp_path, place, words, write):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    write = write or (lambda path: report.save(records.honest(), path))

    with pytest.raises(InputError, match=words):
        write(tmp_path / place)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write all")
def test_a_closed_folder_is_refused(tmp_path):
    tmp_path.chmod(0o555)

    with pytest.raises(InputError, match="choose a place where you may write"):
        files.check_writable(tmp_path / "page.html")
