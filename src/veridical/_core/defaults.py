"""Defaults that several packages share; importing them costs nothing."""

#: Number of features to select: of every selector, verb and command.
N_FEATURES_TO_SELECT = 10

#: Confidence of all intervals, unless another is asked for.
CONFIDENCE = 0.95


def default_n_features(n_features: int) -> int:
    """Return how many features a verb selects where nobody says how many.

    At most half of them, because a selection of all features selects nothing.

    Examples
    --------
    >>> [default_n_features(n) for n in (1, 6, 2000)]
    [1, 3, 10]
    """
    return min(N_FEATURES_TO_SELECT, (n_features + 1) // 2)
