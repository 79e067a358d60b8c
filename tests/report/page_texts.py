"""What is said on the pages of tests: names, settings, and who decides about them."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], str]


def plain(text: str) -> str:
    """Say what the catalogue says."""
    return text


def settings(say: Say, verb: str) -> dict[str, str]:
    """What the command line notes about a run on a file."""
    return {
        "cross-validation": say("10 stratified folds"),
        "alpha": 0.05,
        "random_state": 0,
        "veridical": "0.1",
        "data sha256": "5f70bf18" + 56 * "a",
        "versions": "Python 3.12.4, numpy 2.1.0, scikit-learn 1.6.0, numba 0.61.0",
        "command": say(f"veridical {verb} colon.csv --target tissue --seed 0"),
        say("note"): say("made for a test"),
    }


def gene(i: int) -> str:
    """A name as microarrays have them."""
    return f"{'HXUTRMJ'[i % 7]}{(i * 7919 + 6225) % 89989:05d}_{'atg'[i % 3]}"


def names(say: Say, n: int) -> tuple[str, ...]:
    """Feature names, each said."""
    return tuple(say(gene(i)) for i in range(n))
