"""Measure how often claims about features are false: the table that veridical ships.

    python -m benchmarks.truth.discoveries [--minutes 45] [--only relieff] [--above]
        [--target survival]
    python -m benchmarks.truth.discoveries --table
    python -m benchmarks.truth.discoveries --noise 500
    python -m benchmarks.truth.discoveries --peers 20

The first command draws data sets of every design, runs every method on each, and writes
``src/veridical/discovery/rates.csv``. What was measured stays: the command, given
again, adds data sets to the designs that have the fewest; with ``--above`` only to
those whose rate is above nominal + 2 points when it starts, whatever it is then. The
second prints the table of the documentation. The third counts pure noise tables of
100 x 10000 in which something is claimed. The fourth compares the power with that of
other packages on the same data (``pip install hidimstat Boruta``), into
``discoveries_power.csv``.

In a design some features are *relevant*: the outcome is made from them. Features that
are correlated with a relevant one are *associated* with the outcome. A claim of
association is false if the feature is not associated, a conditional claim if it is not
relevant, and a stable claim if it is not associated. ReliefF tests whether a feature is
independent of all else, so its claims are false if the feature is neither.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import veridical.discovery
from benchmarks.truth.designs import write_rows
from veridical.discovery import discover
from veridical.discovery.likeness import rate_table

TABLE = Path(veridical.discovery.__file__).with_name("rates.csv")
POWER = Path(__file__).with_name("discoveries_power.csv")
NOISE = Path(__file__).with_name("discoveries_noise.csv")
#: Data sets of a design: with and without relevant features.
N_SETS = {False: 150, True: 500}
#: Data sets of a design that ``--above`` adds to.
N_ABOVE = 600
#: Data sets that are measured before the table is written.
BATCH = 25


@dataclass(frozen=True)
class Design:
    """How data sets are drawn.

    Parameters
    ----------
    features : str
        independent, blocks (of 10, correlation 0.6), heavy (Student's t, 3 degrees of
        freedom), binary, categorical (4 categories) or binary blocks.
    outcome : str
        null, linear or xor (products of pairs).
    n, p, k : int
        Samples, features, relevant features.
    minority : float
        Share of the smaller class.
    target : str
        classes, numbers or survival (two of five times are censored, about).
    """

    features: str
    outcome: str
    n: int
    p: int
    k: int
    minority: float = 0.5
    target: str = "classes"


#: Samples and features: p/n from 0.5 to 500.
SHAPES = ((200, 100), (100, 200), (100, 1000), (50, 1000), (40, 4000), (20, 10000))


def designs() -> Iterator[Design]:
    """Yield all designs."""
    for n, p in SHAPES:
        dense = min(p // 5, 60)
        yield Design("independent", "null", n, p, 0)
        yield Design("independent", "linear", n, p, 5)
        yield Design("independent", "linear", n, p, dense)
        yield Design("blocks", "null", n, p, 0)
        yield Design("blocks", "linear", n, p, 5)
        yield Design("heavy", "linear", n, p, 5)
        yield Design("binary", "linear", n, p, 5)
    for n, p in SHAPES[:4]:
        yield Design("blocks", "linear", n, p, min(p // 10, 20))
        yield Design("heavy", "null", n, p, 0)
        yield Design("binary", "null", n, p, 0)
        yield Design("categorical", "null", n, p, 0)
        yield Design("categorical", "linear", n, p, 5)
        yield Design("independent", "xor", n, p, 4)
        yield Design("independent", "linear", n, p, 5, 0.15)
        yield Design("blocks", "null", n, p, 0, 0.15)
    yield Design("binary blocks", "linear", 200, 100, 5)
    yield Design("binary blocks", "linear", 100, 1000, 5)
    yield Design("heavy", "xor", 200, 100, 4)
    for target in ("numbers", "survival"):
        for n, p in ((200, 100), (100, 1000)):
            for features in ("independent", "blocks", "heavy", "binary"):
                yield Design(features, "null", n, p, 0, target=target)
                yield Design(features, "linear", n, p, 5, target=target)


def draw(design: Design, number: int) -> tuple[Any, Any, Any, Any]:
    """Draw a data set: X, y, and which features are associated and relevant."""
    known = asdict(design)
    if design.target == "classes":  # as when all designs had classes
        del known["target"]
    seed = zlib.crc32(repr(sorted(known.items())).encode())
    rng = np.random.default_rng([seed, number])
    n, p, k = design.n, design.p, design.k
    Z = rng.standard_normal((n, p))
    block = 10 if "blocks" in design.features else 1
    if block > 1:
        common = np.repeat(rng.standard_normal((n, -(-p // block))), block, axis=1)
        Z = np.sqrt(0.4) * Z + np.sqrt(0.6) * common[:, :p]
    if design.features == "heavy":
        Z = rng.standard_t(3, size=(n, p))
    X = Z
    if design.features.startswith("binary"):
        X = (rng.uniform(-1, 1, size=p) < Z).astype(float)
    if design.features == "categorical":
        X = np.digitize(Z, [-0.8, 0.0, 0.8]).astype(float)
    firsts = np.arange(0, p, block)
    relevant = np.zeros(p, dtype=bool)
    if k:
        chosen = rng.choice(firsts.size, min(k, firsts.size), replace=False)
        relevant[firsts[chosen]] = True
    signal = _signal(X, np.flatnonzero(relevant), design, rng)
    noise = rng.standard_normal(n) * (0.5 * signal.std() if k else 1.0)
    made = signal + noise
    y = _outcome(made, design, rng)
    associated = relevant
    if block > 1:
        associated = np.repeat(np.add.reduceat(relevant, firsts) > 0, block)[:p]
    if design.outcome == "xor":
        associated = np.zeros(p, dtype=bool)
    if design.features == "categorical":
        X = pd.DataFrame(X.astype(int)).astype("category")
        X.columns = [f"x{j}" for j in range(p)]
    return X, y, associated, relevant


def _outcome(made: Any, design: Design, rng: Any) -> Any:
    if design.target == "numbers":
        return made
    if design.target == "classes":
        return (made > np.quantile(made, 1 - design.minority)).astype(int)
    times = rng.exponential(np.exp(-made / made.std()))
    censored = rng.exponential(2 * np.median(times), len(times))
    y = np.empty(len(times), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = times <= censored, np.minimum(times, censored)
    return y


def _signal(X: Any, relevant: Any, design: Design, rng: Any) -> Any:
    if not relevant.size:
        return np.zeros(len(X))
    own = X[:, relevant]
    if design.features == "categorical":  # categories have effects in no order
        effects = np.array([1.0, -1.0, -1.0, 1.0])
        own = effects[own.astype(int)]
    own = (own - own.mean(axis=0)) / np.maximum(own.std(axis=0), 1e-9)
    own = np.clip(own, -4, 4)
    if design.outcome == "xor":
        return (np.sign(own[:, 0::2]) * np.sign(own[:, 1::2])).sum(axis=1)
    return own @ rng.choice([-1.0, 1.0], size=relevant.size)


# -- methods ---------------------------------------------------------------------------

#: name: claim, options, and the most features times samples.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "anova fdr": ("association", {"selector": "anova", "fdr": 0.1}),
    "anova fwer": ("association", {"selector": "anova", "fwer": 0.05}),
    "anova pfer": ("association", {"selector": "anova", "pfer": 1}),
    "gain fdr": ("association", {"selector": "information-gain", "fdr": 0.1}),
    "relieff fdr": ("association", {"selector": "relieff", "fdr": 0.1}),
    "dcrt fdr": ("conditional", {"fdr": 0.1}),
    "knockoffs fdr": (
        "conditional",
        {"method": "knockoffs", "fdr": 0.1, "selector": "lasso", "n_draws": 10},
    ),
    "pairs pfer": ("stable", {"selector": "anova", "pfer": 1}),
    "decoys fdr": ("stable", {"selector": "anova", "fdr": 0.1}),
    "cox fdr": ("association", {"selector": "cox-score", "fdr": 0.1}),
    "cox-pairs pfer": ("stable", {"selector": "cox-score", "pfer": 1}),
}
#: Methods that are measured only beside other packages.
BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "knockoffs-1 fdr": (
        "conditional",
        {"method": "knockoffs", "fdr": 0.1, "selector": "lasso", "n_draws": 1},
    ),
}
#: Methods that are measured with other targets.
OTHER = {
    "numbers": ("anova fdr", "pairs pfer", "dcrt fdr"),
    "survival": ("cox fdr", "cox-pairs pfer", "dcrt fdr"),
}
#: Methods whose costs rise fast: most samples times features.
LARGEST = {"knockoffs fdr": 60_000, "gain fdr": 60_000, "relieff fdr": 60_000}
#: Share of the data sets that a method is run on.
SHARES = {
    "anova pfer": 0.3,
    "gain fdr": 0.5,
    "relieff fdr": 0.5,
    "dcrt fdr": 0.6,
    "knockoffs fdr": 0.4,
    "pairs pfer": 0.6,
    "decoys fdr": 0.6,
}

#: Data sets of a design, for methods and targets where these are other numbers.
N_EACH = {
    ("anova fwer", "classes"): 400,
    ("anova fdr", "numbers"): 200,
    ("pairs pfer", "numbers"): 50,
    ("dcrt fdr", "numbers"): 50,
    ("cox fdr", "survival"): 50,
    ("cox-pairs pfer", "survival"): 50,
    ("dcrt fdr", "survival"): 50,
}

COLUMNS = (
    *(field.name for field in fields(Design)),
    "method",
    "n_sets",
    "error",
    "squared",
    "any_false",
    "power",
    "n_powered",
)


def applies(name: str, design: Design) -> bool:
    """Return whether a method takes the data of a design, at a bearable cost."""
    if design.target != "classes":
        return name in OTHER[design.target]
    if name.startswith("cox"):
        return False
    if name.split()[0] in ("anova", "pairs", "decoys"):
        return design.features != "categorical"
    return design.n * design.p <= LARGEST.get(name, 10**9)


def measure(name: str, data: tuple[Any, Any, Any, Any], seed: int) -> dict[str, float]:
    """Run a method on a data set; return its error and its power."""
    X, y, associated, relevant = data
    claim, options = (METHODS | BESIDE)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = discover(
            X, y, claim=claim, **options, n_pairs=50 if claim == "stable" else 0,
            random_state=seed, progress=False,
        )  # fmt: skip
    return judge(found.claimed, truth(name, associated, relevant), name.split()[1])


def truth(name: str, associated: Any, relevant: Any) -> Any:
    """Return the features of which a claim is true."""
    if (METHODS | BESIDE)[name][0] == "conditional":
        return relevant
    return associated | relevant if name.startswith("relieff") else associated


def judge(claimed: Any, true: Any, rate: str) -> dict[str, float]:
    """Count what was claimed wrongly, and what was found."""
    n_false = int(np.count_nonzero(~true[claimed]))
    error = {
        "fdr": n_false / max(len(claimed), 1),
        "fwer": float(n_false > 0),
        "pfer": float(n_false),
    }[rate]
    n_true = int(true.sum())
    return {
        "n_sets": 1,
        "error": error,
        "squared": error**2,
        "any_false": float(n_false > 0),
        "power": (len(claimed) - n_false) / n_true if n_true else 0.0,
        "n_powered": float(n_true > 0),
    }


# -- the table -------------------------------------------------------------------------


def read_rates() -> dict[tuple[Design, str], dict[str, float]]:
    """Read what was measured."""
    if not TABLE.exists():
        return {}
    kinds = {field.name: field.type for field in fields(Design)}
    convert = {"int": int, "float": float, "str": str}
    found = {}
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(file):
            design = Design(
                **{k: convert[str(kind)](row[k]) for k, kind in kinds.items()}
            )
            rest = {k: float(row[k]) for k in COLUMNS[len(kinds) + 1 :]}
            found[design, row["method"]] = rest
    return found


def write_table(found: dict[tuple[Design, str], dict[str, float]]) -> None:
    """Write what was measured, in the order of the designs."""
    order = {design: i for i, design in enumerate(designs())}
    names = list(METHODS)
    keys = sorted(found, key=lambda one: (order.get(one[0], 999), names.index(one[1])))
    values = {key: {k: f"{v:.6g}" for k, v in found[key].items()} for key in keys}
    write_rows(
        TABLE,
        COLUMNS,
        ({**asdict(key[0]), "method": key[1], **values[key]} for key in keys),
    )


def is_above(name: str, own: dict[str, float]) -> bool:
    """Return whether the rate is above nominal + 2 points, by chance or not."""
    nominal = float(METHODS[name][1][name.split()[1]])
    return own["error"] / own["n_sets"] > nominal + 0.02


def run(minutes: float, only: str = "", above: bool = False, target: str = "") -> None:
    """Measure until all designs are done or the time is over."""
    found = read_rates()
    suspects = {one for one, own in found.items() if is_above(one[1], own)}
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        todo = [
            one
            for one in work(found, N_ABOVE if above else None)
            if only in one[1]
            and (not above or one in suspects)
            and target in ("", one[0].target)
        ]
        if not todo:
            print("all designs are measured")
            return
        design, name = todo[0]
        start = int(found.get((design, name), {}).get("n_sets", 0))
        begin = time.process_time()
        for number in range(start, start + BATCH):
            data = draw(design, number)
            one = measure(name, data, number)
            own = found.setdefault((design, name), dict.fromkeys(one, 0.0))
            for key, value in one.items():
                own[key] += value
        write_table(found)
        seconds = time.process_time() - begin
        own = found[design, name]
        print(
            f"{name:14} {design} {own['error'] / own['n_sets']:.3f} "
            f"power {own['power'] / max(own['n_powered'], 1):.2f} "
            f"({own['n_sets']:.0f} sets, {seconds / BATCH:.2f} s each)",
            flush=True,
        )


def work(
    found: dict[tuple[Design, str], dict[str, float]], n_sets: int | None = None
) -> list[tuple[Any, str]]:
    """List what lacks data sets, first where the fewest are, and small designs.

    Every design is to have `n_sets`, if they are given.
    """
    todo = []
    for design in designs():
        for name in METHODS:
            if not applies(name, design):
                continue
            done = int(found.get((design, name), {}).get("n_sets", 0))
            wanted = N_SETS[design.outcome == "null"] * SHARES.get(name, 1.0)
            wanted = N_EACH.get((name, design.target), wanted)
            wanted = n_sets or wanted
            if done < wanted:
                todo.append((done / wanted, design.n * design.p, design, name))
    todo.sort(key=lambda one: one[:2])
    return [(design, name) for _, _, design, name in todo]


def noise(n_sets: int, only: str = "") -> None:
    """Count pure noise tables of 100 x 10000 in which something is claimed."""
    rows = {}
    if NOISE.exists():
        with NOISE.open(newline="") as file:
            rows = {row["method"]: row for row in csv.DictReader(file)}
    for name in ("anova fdr", "decoys fdr", "dcrt fdr"):
        if only not in name:
            continue
        claim, options = METHODS[name]
        known = rows.get(name, {"n_sets": 0, "n_claimed": 0})
        done, n_claimed = int(known["n_sets"]), int(known["n_claimed"])
        for number in range(done, n_sets):
            rng = np.random.default_rng([7, number])
            X, y = rng.standard_normal((100, 10_000)), np.repeat([0, 1], 50)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = discover(
                    X, y, claim=claim, **options, random_state=number, progress=False,
                    n_pairs=50 if claim == "stable" else 0,
                )  # fmt: skip
            n_claimed += bool(found.claimed.size)
            rows[name] = {"method": name, "n_sets": number + 1, "n_claimed": n_claimed}
            if number % 10 == 9:
                with NOISE.open("w", newline="") as file:
                    writer = csv.DictWriter(
                        file, ("method", "n_sets", "n_claimed"), lineterminator="\n"
                    )
                    writer.writeheader()
                    writer.writerows(rows.values())
        print(name, n_claimed, "of", n_sets, flush=True)


# -- other packages --------------------------------------------------------------------

#: Designs on which packages are compared; hidimstat takes minutes where p is larger.
COMPARED = (
    Design("independent", "linear", 200, 100, 5),
    Design("blocks", "linear", 200, 100, 5),
    Design("independent", "linear", 200, 100, 20),
    Design("heavy", "linear", 200, 100, 5),
    Design("binary", "linear", 200, 100, 5),
    Design("blocks", "linear", 200, 100, 10),
)


def rivals() -> dict[str, Any]:
    """Return the procedures of other packages that are installed, by name."""
    found: dict[str, Any] = {}
    with suppress(ImportError):
        from hidimstat import D0CRT, ModelXKnockoff
        from sklearn.linear_model import LassoCV

        def d0crt(X: Any, y: Any) -> Any:
            model = D0CRT(LassoCV(alphas=10, random_state=0), random_state=0)
            model.fit(X, y)
            model.importance(X, y)
            return model.fdr_selection(0.1) > 0

        def knockoffs(X: Any, y: Any) -> Any:
            model = ModelXKnockoff(random_state=0)
            model.fit(X, y)
            model.importance(X, y)
            return model.fdr_selection(0.1) > 0

        found |= {"hidimstat D0CRT": d0crt, "hidimstat ModelXKnockoff": knockoffs}
    with suppress(ImportError):
        from boruta import BorutaPy
        from sklearn.ensemble import RandomForestClassifier

        def boruta(X: Any, y: Any) -> Any:
            forest = RandomForestClassifier(n_jobs=1, max_depth=5, random_state=0)
            model = BorutaPy(forest, n_estimators=50, max_iter=20, random_state=0)
            return model.fit(X, (y > 0).astype(int)).support_

        found["Boruta"] = boruta
    return found


def compare_with_peers(n_sets: int) -> None:
    """Compare error and power with those of other packages, on the same data."""
    others = rivals()
    columns = ("design", "method", "n_sets", "fdr", "power", "seconds")
    known = []
    if POWER.exists():
        with POWER.open(newline="") as file:
            known = list(csv.DictReader(file))
    done = {(row["design"], row["method"]) for row in known}
    for design in COMPARED:
        named = f"{design.features} {design.outcome} {design.n}x{design.p} k={design.k}"
        ours = ["dcrt fdr", "knockoffs fdr", *BESIDE]
        for name in [*ours, *others]:
            if (named, name) in done:
                continue
            rows, begin = [], time.process_time()
            for number in range(n_sets):
                data = draw(design, number)
                if name in ours:
                    rows.append(measure(name, data, number))
                    continue
                X, y, _, relevant = data
                X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    claimed = np.flatnonzero(others[name](X, y - y.mean()))
                rows.append(judge(claimed, relevant, "fdr"))
            means = {k: float(np.mean([row[k] for row in rows])) for k in rows[0]}
            known.append(
                {
                    "design": named,
                    "method": name,
                    "n_sets": n_sets,
                    "fdr": f"{means['error']:.3f}",
                    "power": f"{means['power']:.3f}",
                    "seconds": f"{(time.process_time() - begin) / n_sets:.2f}",
                }
            )
            print(*known[-1].values(), flush=True)
            with POWER.open("w", newline="") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(known)


# -- the documentation -----------------------------------------------------------------


def tabulate() -> str:
    """Write the table of the documentation: methods in rows, kinds of features."""
    rows = rate_table()
    lines = [
        "| method | nominal | designs | data sets | mean rate "
        "| 95 % of designs have at most "
        "| designs above nominal + 2 points, beyond chance | mean power |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, target in product(METHODS, ("classes", *OTHER)):
        method, rate = name.split()
        key = (method, rate, target)
        own = [row for row in rows if (row.method, row.rate, row.look.target) == key]
        if not own:
            continue
        errors = np.array([row.error for row in own])
        slack = np.array([2 * row.deviation for row in own])
        above = int((errors - slack > own[0].nominal + 0.02).sum())
        powers = [row.power for row in own if np.isfinite(row.power)]
        unit = 1 if rate == "pfer" else 100
        sign = "" if rate == "pfer" else " %"
        digits = 2 if rate == "pfer" else 1
        assumed = "" if all(row.holds for row in own) else " (*)"
        mean = np.average(errors, weights=[row.n_sets for row in own])
        n_sets = sum(row.n_sets for row in own)
        cells = (
            f"{LABELS[name]}{OUTCOMES[target]}{assumed}",
            f"{own[0].nominal * unit:g}{sign}",
            f"{len(own)}",
            f"{n_sets}",
            f"{mean * unit:.{digits}f}{sign}",
            f"{np.quantile(errors, 0.95) * unit:.{digits}f}{sign}",
            f"{above}",
            f"{100 * np.mean(powers):.0f} %",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


#: Methods as the documentation calls them.
LABELS = {
    "anova fdr": "permutation, AnovaF, `fdr`",
    "anova fwer": "permutation, AnovaF, `fwer`",
    "anova pfer": "permutation, AnovaF, `pfer`",
    "gain fdr": "permutation, InformationGain, `fdr`",
    "relieff fdr": "own null, ReliefF, `fdr`",
    "dcrt fdr": "distilled randomization test, `fdr`",
    "knockoffs fdr": "knockoffs, lasso, 10 draws, `fdr`",
    "pairs pfer": "complementary pairs, AnovaF, `pfer`",
    "decoys fdr": "decoys, AnovaF, `fdr`",
    "cox fdr": "permutation, CoxScore, `fdr`",
    "cox-pairs pfer": "complementary pairs, CoxScore, `pfer`",
}
OUTCOMES = {"classes": "", "numbers": ", numbers", "survival": ", survival times"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--only", default="")
    parser.add_argument("--above", action="store_true")
    parser.add_argument("--target", default="", choices=("", "classes", *OTHER))
    parser.add_argument("--noise", type=int, default=0)
    parser.add_argument("--peers", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.noise:
        noise(asked.noise, asked.only)
        return
    if asked.peers:
        compare_with_peers(asked.peers)
        return
    if asked.table:
        print(tabulate())
        return
    run(asked.minutes, asked.only, asked.above, asked.target)


if __name__ == "__main__":
    main()
