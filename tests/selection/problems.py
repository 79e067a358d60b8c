"""Small classification problems full of the things that go wrong in real ones.

A column is drawn by kind (a coarse grid, floats, a constant, a copy of an earlier
column, an outlier, ...); its values come from a drawn seed, so that a failure shrinks
to few columns of simple kinds.
"""

import os
from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st


def examples(n):
    """Settings for about n examples; VERIDICAL_SOAK=50 makes it fifty times as many."""
    factor = float(os.environ.get("VERIDICAL_SOAK", "1"))
    return settings(max_examples=max(1, int(n * factor)), deadline=None)


@dataclass(frozen=True)
class Problem:
    """X with NaN for missing values, its categorical features, and the classes."""

    X: np.ndarray
    categorical: np.ndarray
    y: np.ndarray

    def __repr__(self):
        return (
            f"Problem(np.array({self.X.tolist()}), "
            f"np.array({self.categorical.tolist()}), np.array({self.y.tolist()}))"
        ).replace("nan", "np.nan")

    def columns(self):
        """The columns as oracles want them."""
        return [[None if v != v else v for v in x] for x in self.X.T.tolist()]

    def take(self, rows):
        return Problem(self.X[rows], self.categorical, self.y[rows])


def _grid(rng, y):
    return rng.integers(0, rng.integers(2, 6), y.size) / 4


def _floats(rng, y):
    return rng.normal(size=y.size)


def _signal(rng, y):
    return rng.normal(size=y.size) + y * rng.choice([0.5, 2.0])


def _coarse_signal(rng, y):
    return np.round(2 * _signal(rng, y))


def _class_copy(rng, y):
    return rng.permutation(y.max() + 1)[y].astype(float)


def _constant(rng, y):
    return np.full(y.size, rng.choice([0.0, 0.1, -3.0, 7.0]))


def _shifted(rng, y):
    return _coarse_signal(rng, y) / 8 + 10.0 ** rng.integers(1, 7)


def _high_constant(rng, y):
    return np.full(y.size, 1e9 / 7)


def _scaled(rng, y):
    return _signal(rng, y) * 10.0 ** rng.integers(-60, 61)


def _outlier(rng, y):
    x = _coarse_signal(rng, y)
    x[rng.integers(y.size)] = 10.0 ** rng.integers(3, 40)
    return x


def _rare(rng, y):
    x = np.zeros(y.size)
    x[rng.integers(y.size)] = 1.0
    return x


def _codes(rng, y):
    return rng.choice([0.0, 1.0, 2.0, 7.0], y.size)


def _class_codes(rng, y):
    return (y + rng.integers(0, 2, y.size)) % rng.integers(2, 5).astype(float)


TAME = (_grid, _floats, _signal, _coarse_signal, _class_copy, _constant, _rare)
WILD = (_shifted, _high_constant, _scaled, _outlier)
AROUND_ZERO = (_scaled, _outlier)
NOMINAL = (_codes, _class_codes)
COPIES = ("copy", "scaled copy")


def labels(rng, n, n_classes):
    """Every class at least twice, the rest by chance, in any order."""
    sure = np.repeat(np.arange(n_classes), 2)
    return rng.permutation(np.r_[sure, rng.integers(0, n_classes, n - sure.size)])


@st.composite
def problems(
    draw, *, categorical=False, missing=False, wild=WILD, max_rows=30, max_features=8
):
    """A problem with between 4 and `max_rows` rows and 2 to 6 classes."""
    n_classes = draw(st.integers(2, min(6, max_rows // 2)))
    n = draw(st.integers(2 * n_classes, max_rows))
    kinds = [*TAME, *wild, *(NOMINAL if categorical else ())]
    chosen = draw(
        st.lists(st.sampled_from([*kinds, *COPIES]), min_size=1, max_size=max_features)
    )
    share_missing = draw(st.sampled_from([0.0, 0.1, 0.5])) if missing else 0.0
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = labels(rng, n, n_classes)
    columns, is_categorical = [], []
    for kind in chosen:
        if kind in COPIES and columns:
            of = rng.integers(len(columns))
            columns.append(
                columns[of] * (1 if kind == "copy" else rng.choice([3, 0.5]))
            )
            is_categorical.append(is_categorical[of])
            continue
        kind = _grid if kind in COPIES else kind
        column = kind(rng, y)
        column[rng.random(n) < share_missing] = np.nan
        columns.append(column)
        is_categorical.append(kind in NOMINAL)
    return Problem(np.column_stack(columns), np.array(is_categorical), y)


@st.composite
def train_sets(draw, y, at_least=1):
    """Training sets of every sort: folds, leave-one-out, halves, bags, masks.

    Each holds at least two classes, as selection must, and `at_least` rows.
    """
    n = y.size
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    every = np.arange(n)
    fold = rng.permutation(n) % draw(st.integers(2, 5))
    sort = draw(st.sampled_from(["folds", "one out", "halves", "bags", "masks"]))
    sets = {
        "folds": lambda: [every[fold != f] for f in range(fold.max() + 1)],
        "one out": lambda: [np.delete(every, i) for i in range(n)],
        "halves": lambda: [rng.permutation(n)[: n // 2] for _ in range(4)],
        "bags": lambda: [rng.integers(0, n, n) for _ in range(4)],
        "masks": lambda: [rng.random(n) < share for share in (0.3, 0.6, 0.9)],
    }[sort]()
    return [
        rows
        for rows in sets
        if np.unique(y[rows]).size > 1 and y[rows].size >= at_least
    ]


# -- numbers and survival times ------------------------------------------------------


SURVIVAL = np.dtype([("event", bool), ("time", float)])


def survival(rng, risk, share=0.6, grid=False):
    """Events and times, earlier where the risk is high; on a grid many times tie."""
    y = np.empty(risk.size, dtype=SURVIVAL)
    y["time"] = rng.exponential(np.exp(-np.asarray(risk, dtype=float))) + 0.01
    if grid:
        y["time"] = np.ceil(3 * y["time"])
    y["event"] = rng.random(risk.size) < share
    y["event"][np.argmin(y["time"])] = True  # known to be earlier than all others
    y["time"][np.argmax(y["time"])] += 1.0
    return y


def _number_target(rng, y, kind):
    z = y + rng.normal(size=y.size)
    z = {"grid": np.round(2 * z) / 2, "high": z + 1e6, "floats": z}.get(kind, z)
    if kind == "outlier":
        # Beside an outlier of the feature in the same row, 1 − r² keeps 16 digits.
        z[rng.integers(z.size)] = 10.0 ** rng.integers(2, 4)
    z[0] = z[1] + 0.3  # neither constant nor whole
    return z


@st.composite
def outcome_problems(draw, target, **options):
    """The same tables as in `problems`, with a target of numbers or survival times."""
    problem = draw(problems(**options))
    kind = draw(st.sampled_from(["floats", "grid", "high", "outlier"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if target == "numbers":
        y = _number_target(rng, problem.y, kind)
    else:
        y = survival(rng, problem.y, grid=kind == "grid")
    return Problem(problem.X, problem.categorical, y)


def varies(y):
    """Whether there is something to learn in a target of numbers or times."""
    if y.dtype.names is None:
        return np.ptp(y) > 0
    return y["event"].any() and bool((y["time"] > y["time"][y["event"]].min()).any())
