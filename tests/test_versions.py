"""What to say first when something goes wrong."""

import veridical


def test_versions_are_recorded(capsys):
    veridical.show_versions()
    told = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert told["veridical"].startswith(veridical.__version__)
    assert {"numpy", "scikit-learn", "numba", "Python", "system", "cores"} <= set(told)
    assert told["cores"].isdigit()


def test_what_is_missing_is_said(monkeypatch, capsys):
    monkeypatch.setattr("veridical._core.versions._PACKAGES", ("no-such-package",))
    veridical.show_versions()
    assert "no-such-package not installed" in capsys.readouterr().out
