"""Score other packages on tables of LeakBench.

    python -m benchmarks.leakbench.rivals draw --tables 24
    OTHER_PYTHON benchmarks/leakbench/rivals.py score --only leaklint targetleak

``draw`` writes the tables of the first draws of seed 4 as .npz files; ``score`` needs
nothing of veridical, because the packages need older versions of scikit-learn, and
writes ``rivals.csv``: whether each package warned, of anything. It can be resumed.

Leakly asks for the whole work on permuted labels, and is given the first `WHOLE` tables
alone. Where the mistake is a step of the work, ``draw`` repeats the step and the
cross-validation on permuted labels for them.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "build" / "leakbench"
#: Seed of the draws, as in `benchmarks.leakbench`.
SEED = 4
#: Number of tables of which steps are repeated on permuted labels, and of permutations:
#: the number that Leakly names for a quick check.
WHOLE, PERMUTATIONS = 2, 100
#: Mistakes that are steps of the work, and are repeated with it. Those that try many
#: settings or seeds would take long, and are left out for Leakly; so is the correction
#: of batches associated with the class, which cannot be drawn for other labels.
STEPS = frozenset(
    (
        *("augmentation", "class-mean-imputation", "class-normalisation", "cleaning"),
        *("mean-imputation", "overlapping-folds", "oversampling", "pca", "pls"),
        *("scaling", "selection", "selection-hidden", "smote", "target-encoding"),
    )
)
LONG = frozenset(
    (
        *("batch-correction", "best-seed", "best-setting", "best-subset"),
        *("early-stopping", "threshold", "tuned-on-all"),
    )
)


def repeat_on_permuted(at: Any) -> Any:
    """Return the scores of a work whose first labels were permuted."""
    from dataclasses import replace

    from veridical.leakbench import MECHANISMS, draw_table

    table = draw_table(at["source"], 10**6 * SEED + at["table"])
    scores = []
    for b in range(PERMUTATIONS):
        rng = np.random.default_rng([at["table"], b])
        permuted = replace(table, y=rng.permutation(table.y))
        planted = MECHANISMS[at["name"]].plant(permuted, at["dose"], rng)
        scores.append(planted.leaky.score(b))
    return np.array(scores)


def draw(n_tables: int, only: list[str]) -> None:
    """Write tables with the training and test rows of their first fold.

    Steps are repeated on permuted labels if Leakly, which asks for it, is among `only`.
    """
    from sklearn.model_selection import StratifiedKFold

    from veridical.leakbench.study import STUDY, draw_case

    FOLDER.mkdir(parents=True, exist_ok=True)
    spec = STUDY.plan("paper").model_copy(update={"n_tables": n_tables, "seed": SEED})
    for i, unit in enumerate(STUDY.units(spec)):
        at = dict(unit.cells[0].coordinates)
        path = FOLDER / f"{i:05d}.npz"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scenario, _ = draw_case(at, SEED, measured=False)
            steps = at["name"] in STEPS and at["table"] < WHOLE and "Leakly" in only
            whole = repeat_on_permuted(at) if steps else np.empty(0)
        X = np.asarray(scenario.X, dtype=np.float64)
        if "selected" in scenario.known:
            X = X[:, scenario.known["selected"]]
        folds = scenario.cv
        if isinstance(folds, int):
            folds = StratifiedKFold(folds, shuffle=True, random_state=0).split(
                X, scenario.y
            )
        train, test = next(iter(folds))
        np.savez(
            path, X=X, y=scenario.y, train=train, test=test, whole=whole,
            at=json.dumps(at),
        )  # fmt: skip


# -- packages: whether they warn -------------------------------------------------------


def leaklint(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Call ``detect_leakage``; severity low is left out.

    With near-duplicates, which it cannot look for where values are missing.
    """
    from leaklint import detect_leakage

    X, y = table.drop(columns="target"), table["target"]
    near = not X.isna().any(axis=None)
    found = detect_leakage(
        X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test], enable_near_dup=near
    )
    return any(one.severity in ("high", "medium") for one in found.findings)


def leakcheck_ml(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Run all checks, as its command line does; findings that make it fail or warn."""
    from leakcheck.checks import run_all

    found = run_all(table.iloc[train], table.iloc[test], "target")
    return any(one.status != "pass" for one in found)


def targetleak(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Analyse the table with its split; findings above info."""
    from targetleak import analyse

    is_test = np.zeros(len(table), dtype=int)
    is_test[test] = 1
    found = analyse(table.assign(is_test=is_test), "target", split="is_test")
    return any(one.severity in ("critical", "warning") for one in found)


def mlleak(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Report on the split; whether a check that was run did not pass."""
    from mlleak import report

    found = report(table.iloc[train], table.iloc[test], target="target", verbose=False)
    return any(
        one["passed"] is False
        for one in found.values()
        if isinstance(one, dict) and "passed" in one
    )


def deepchecks(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Run the checks about leaks, with the conditions of its suites."""
    from deepchecks.tabular import Dataset
    from deepchecks.tabular import checks as known

    kind = {"label": "target", "cat_features": []}
    first, second = (Dataset(table.iloc[rows], **kind) for rows in (train, test))
    both = [
        known.TrainTestSamplesMix().add_condition_duplicates_ratio_less_or_equal(),
        known.FeatureLabelCorrelationChange().add_condition_feature_pps_difference_less_than(),
    ]
    alone = [
        known.FeatureLabelCorrelation().add_condition_feature_pps_less_than(),
        known.DataDuplicates().add_condition_ratio_less_or_equal(),
    ]
    results = [check.run(first, second) for check in both]
    results += [check.run(first) for check in alone]
    return not all(one.passed_conditions() for one in results)


def leakly(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Repeat the work on 100 permuted labels, its quick check; p ≤ 0.05 of chance.

    Where the mistake is a step, the work was repeated by `draw`. Where it is in the
    data, the work is a logistic regression with the area under the ROC curve on the
    test set, as in its example.
    """
    from leakly import permute_label
    from leakly.stats import permutation_test

    if len(table.attrs["whole"]):
        return bool(permutation_test(0.5, table.attrs["whole"]) <= 0.05)
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = table.drop(columns="target").to_numpy(), table["target"].to_numpy()
    scores = []
    for seed in range(PERMUTATIONS):
        labels = permute_label(y, random_state=seed)
        if len(set(labels[test])) < 2 or len(set(labels[train])) < 2:
            continue
        learner = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
        found = learner.fit(X[train], labels[train]).predict_proba(X[test])[:, 1]
        scores.append(float(roc_auc_score(labels[test], found)))
    return bool(permutation_test(0.5, scores) <= 0.05)


def skore(table: pd.DataFrame, train: Any, test: Any) -> bool:
    """Summarise the checks of a cross-validation report of a logistic regression."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skore import CrossValidationReport

    learner = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    X, y = table.drop(columns="target"), table["target"]
    report = CrossValidationReport(learner, X, y, splitter=5)
    found = report.checks.summarize().frame(section="issue")
    return bool(len(found))


#: Packages by their name on PyPI.
PACKAGES: dict[str, Callable[[pd.DataFrame, Any, Any], bool]] = {
    "deepchecks": deepchecks,
    "leakcheck-ml": leakcheck_ml,
    "Leakly": leakly,
    "leaklint": leaklint,
    "mlleak": mlleak,
    "skore": skore,
    "targetleak": targetleak,
}


def score(only: list[str]) -> None:
    """Give every table to every package."""
    target = HERE / "rivals.csv"
    keys = ["seed", "kind", "name", "dose", "source", "table"]
    done = set()
    if target.exists():
        before = pd.read_csv(target)
        done = set(before[["package", *keys]].astype(str).agg("|".join, axis=1))
    with target.open("a", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        if not opened.tell():
            writer.writerow(["package", "version", *keys, "flagged"])
        for path in sorted(FOLDER.glob("*.npz")):
            with np.load(path) as stored:
                at = {"seed": SEED, **json.loads(str(stored["at"]))}
                X, y, train, test = (stored[k] for k in ("X", "y", "train", "test"))
                whole = stored["whole"].tolist()
            table = pd.DataFrame(X).rename(columns=lambda j: f"x{j}").assign(target=y)
            table.attrs["whole"] = whole
            for name in only:
                steps = at["name"] in STEPS | LONG
                skipped = at["table"] >= WHOLE or (steps and not whole)
                if name == "Leakly" and skipped:
                    continue
                if "|".join([name, *(str(at[key]) for key in keys)]) in done:
                    continue
                flagged = _call(name, table, train, test)
                if flagged is not None:
                    place = [at[key] for key in keys]
                    writer.writerow([name, version(name), *place, int(flagged)])
                    opened.flush()


def _call(name: str, table: pd.DataFrame, train: Any, test: Any) -> bool | None:
    """Return whether a package warns; None, with a message, where it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return PACKAGES[name](table, train, test)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:200], flush=True)
            return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("draw", "score"))
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=list(PACKAGES))
    options = parser.parse_args()
    if options.what == "draw":
        draw(options.tables, options.only)
    else:
        score(options.only)
