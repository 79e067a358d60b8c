"""Seeds: the numbers are fixed, because stored studies were computed with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier

import veridical
from veridical._core.seeds import (
    Purpose,
    derive_seed,
    folds_generator,
    generator_for,
    mixed_generator,
    seed_for,
    seeded,
    stream,
)


def _first(rng):
    return int(rng.integers(2**32))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: derive_seed(0, purpose="folds", n=125), 745783330),
        (lambda: derive_seed(7, data="ü", x=[1, 0.5]), 3274218779),
        (lambda: seed_for(3, Purpose.NULL, 5), 1699602211),
        (lambda: _first(generator_for(3, Purpose.FOLDS, 2)), 1034487584),
        (lambda: _first(folds_generator(4)), 1069100951),
        (lambda: stream(11, 2).generate_state(2).tolist(), [504589216, 1500337693]),
        (lambda: _first(mixed_generator(5, 1)), 568244433),
        (lambda: seeded(RandomForestClassifier(), 9).random_state, 4053640108),
    ],
)
def test_the_numbers_never_change(found, expected):
    assert found() == expected


def test_no_other_module_makes_seeds():
    root = Path(veridical.__file__).parent
    names = ("SeedSequence(", "spawn_key", "default_rng([")
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if any(name in path.read_text() for name in names)
    }

    assert found == {str(Path("_core", "seeds.py"))}
