"""``--features``: a number, or a share, in the same words whatever the verb."""

import json

import pytest

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
