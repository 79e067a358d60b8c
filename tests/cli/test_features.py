"""``--features``: a number, or a share, in the same words whatever the verb."""

import inspect
import json

import pytest
from tests.cli.conftest import make_table

from veridical._core.defaults import N_FEATURES_TO_SELECT
from veridical._core.errors import InputError
from veridical.comparison import compare, sensitivity, truth
from veridical.evaluation import correction, select
from veridical.selection import SELECTORS

# What else each verb is asked, so that it selects and is done soon.
VERBS = {
    "audit": ("--selector", "anova", "--permutations", 19),
    "compare": ("--selectors", "anova,correlation"),
    "estimate": ("--selector", "anova"),
    "probabilities": (),
    "select": ("--selector", "anova"),
}


@pytest.fixture
def ask(run, table):
    """Ask a verb for features of a table that has six."""

    def ask(verb, wanted):
        common = (verb, table, "--target", "kind", "--cv", 3, "--json")
        return run(*common, *VERBS[verb], "--features", wanted)

    return ask


@pytest.mark.parametrize("verb", VERBS)
def test_a_share_is_the_number_that_it_comes_to(ask, verb):
    answer = json.loads(ask(verb, "0.34").stdout)
    assert "--features 2 " in answer["settings"]["command"]
    same = json.loads(ask(verb, 2).stdout)
    for found in (answer, same):
        found.pop("seconds", None)
    assert answer == same


@pytest.mark.parametrize("call", [*SELECTORS.values(), correction])
def test_python_has_the_same_default(call):
    parameter = inspect.signature(call).parameters["n_features_to_select"]
    assert parameter.default == N_FEATURES_TO_SELECT


@pytest.mark.parametrize(("p", "wanted"), [(30, N_FEATURES_TO_SELECT), (6, 3)])
def test_verbs_have_the_same_default_for_names(p, wanted):
    X = make_table(p=p).drop(columns="kind")
    y = make_table(p=p)["kind"]
    common = {"estimator": "nb", "cv": 3, "random_state": 0}
    two = ["anova", "correlation"]
    found = [
        compare(two, X, y, **common),
        sensitivity(two, X, y, n_sets=2, strengths=(1.0,), **common).observed,
        truth(two, "linear", n_sets=2, n_train=30, estimator="nb", random_state=0),
    ]
    assert [r.n_features_to_select for r in found] == [wanted, wanted, 10]
    assert len(select("anova", X, y, **common).features) == wanted


def test_verbs_refuse_to_compare_what_every_selector_keeps():
    X, y = make_table(p=6).drop(columns="kind"), make_table(p=6)["kind"]
    with pytest.raises(InputError, match=r"same number; pass a number, or 1\.0"):
        compare(["anova", "fcbf"], X, y, n_features_to_select=None)


@pytest.mark.parametrize(("n_features", "wanted"), [(30, N_FEATURES_TO_SELECT), (6, 3)])
@pytest.mark.parametrize("verb", VERBS)
def test_the_default_is_pythons_or_half_of_few(run, tmp_path, verb, n_features, wanted):
    path = tmp_path / "table.csv"
    make_table(p=n_features).to_csv(path, index=False)
    common = (verb, path, "--target", "kind", "--cv", 3, "--json")
    answer = json.loads(run(*common, *VERBS[verb]).stdout)
    assert f"--features {wanted} " in answer["settings"]["command"]


def test_compare_records_the_number(ask):
    assert json.loads(ask("compare", "0.34").stdout)["n_features_to_select"] == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        *(
            (text, f"--features {text} is neither a number of features nor a share")
            for text in ("many", "1.5", "-0.1", "nan")
        ),
        ("0", "--features 0 selects nothing; give 1 or more"),
        ("7", "--features=7 is not possible: the data has 6 feature(s); use 1 to 6"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_nonsense_is_refused_in_the_same_words(ask, verb, wanted, words):
    refused = ask(verb, wanted)
    assert refused.exit_code == 2
    assert words in " ".join(refused.stderr.split())
