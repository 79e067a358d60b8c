"""Seeds: the numbers are fixed, because stored studies were computed with them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import veridical
from veridical._core.seeds import (
    Purpose,
    as_generator,
    as_random_state,
    derive_seed,
    folds_generator,
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
        (lambda: _first(as_generator(stream(3, Purpose.FOLDS, 2))), 1034487584),
        (lambda: _first(folds_generator(4)), 1069100951),
        (lambda: stream(11, 2).generate_state(2).tolist(), [504589216, 1500337693]),
        (lambda: _first(mixed_generator(5, 1)), 568244433),
        (lambda: seeded(RandomForestClassifier(), 9).random_state, 4053640108),
    ],
)
def test_seeds_equal_recorded_values(found, expected):
    assert found() == expected


def _calls(path):
    nodes = ast.walk(ast.parse(path.read_text()))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return {getattr(call, "attr", getattr(call, "id", None)) for call in calls}


def test_no_other_module_makes_seeds():
    root = Path(veridical.__file__).parent
    names = {"SeedSequence", "default_rng", "RandomState", "check_random_state"}
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if names & _calls(path)
    }

    # Kernels see arrays and nothing else; a caller gives the seed, or it is 0. Papers
    # stand on public calls alone, and seed numpy's generators by `derive_seed`.
    others = {path for path in found if not path.startswith(("kernels/", "papers/"))}
    assert others == {"_core/seeds.py"}


def test_estimators_take_every_kind_of_random_state():
    assert as_random_state(3).randint(2**31) == np.random.RandomState(3).randint(2**31)
    one, two = (as_random_state(np.random.default_rng(1)) for _ in range(2))
    assert one.randint(2**31) == two.randint(2**31)
    assert as_random_state(one) is one
