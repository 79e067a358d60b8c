"""Sources that can be sampled without limit, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.seeds import as_generator
from veridical._core.targets import Kind
from veridical.datasets.monks import make_monks
from veridical.datasets.synthetic import (
    draw_from_rates,
    draw_rates,
    make_linear,
    make_nonlinear,
    make_random_labels,
)
from veridical.datasets.synthetic_targets import (
    make_friedman,
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)


@dataclass(frozen=True)
class Source:
    """A distribution that can be sampled without limit.

    Calling it draws training data; :meth:`test` draws data to test on.

    Parameters
    ----------
    name : str
        Its key in ``SOURCES``.
    description : str
        A description in one sentence.
    n_features, n_relevant : int
        Numbers of features, and of relevant features.
    n_samples : int
        A usual size, the one that ``load`` draws.
    kind : {"classes", "numbers", "survival"}
        Kind of the target.
    """

    name: str
    description: str
    n_features: int
    n_relevant: int
    n_samples: int
    _make: Callable[..., tuple[Any, ...]]
    _make_test: Callable[..., tuple[Any, ...]]
    kind: Kind = "classes"

    def __call__(
        self,
        n_samples: int,
        *,
        random_state: Any = None,
        return_relevant: bool = False,
    ) -> tuple[Any, ...]:
        """Draw training data: ``X, y``, and ``relevant`` if asked for."""
        return self._make(
            n_samples=n_samples,
            random_state=random_state,
            return_relevant=return_relevant,
        )

    def test(
        self, n_samples: int, *, random_state: Any = None
    ) -> tuple[Any, NDArray[Any]]:
        """Draw test data, without the label noise of ``monks-3``."""
        X, y = self._make_test(n_samples=n_samples, random_state=random_state)
        return X, y


#: Number of features of the binary source, and the α of their rates.
_N_BINARY, _ALPHA = 2000, 300.0


@cache
def _rates() -> FloatArray:
    """Draw how often features are 1, once, so that all samples have the same source."""
    return draw_rates(_N_BINARY, _ALPHA, as_generator(0))


def _make_beta_bernoulli(n_samples: int, **options: Any) -> tuple[Any, ...]:
    return draw_from_rates(_rates(), n_samples, **options)


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            "linear",
            "Uniform features, 10 of 60 relevant, a linear boundary with noise.",
            n_features=60,
            n_relevant=10,
            n_samples=125,
            _make=make_linear,
            _make_test=make_linear,
        ),
        Source(
            "nonlinear",
            "Uniform features, 10 of 60 relevant, classes that differ in spread.",
            n_features=60,
            n_relevant=10,
            n_samples=125,
            _make=make_nonlinear,
            _make_test=make_nonlinear,
        ),
        Source(
            "monks-1",
            "Six categorical features; class 1 where a1 = a2 or a5 = 1.",
            n_features=6,
            n_relevant=3,
            n_samples=432,
            _make=partial(make_monks, 1),
            _make_test=partial(make_monks, 1),
        ),
        Source(
            "monks-2",
            "Six categorical features; class 1 where exactly two of them equal 1.",
            n_features=6,
            n_relevant=6,
            n_samples=432,
            _make=partial(make_monks, 2),
            _make_test=partial(make_monks, 2),
        ),
        Source(
            "monks-3",
            "Six categorical features; class 1 where a5 = 3 and a4 = 1, or a5 is not 4 "
            "and a2 is not 3; 5 % of the training labels are flipped.",
            n_features=6,
            n_relevant=3,
            n_samples=432,
            _make=partial(make_monks, 3),
            _make_test=partial(make_monks, 3, noise=0.0),
        ),
        Source(
            "random-labels",
            "5000 normal features, and labels that are independent of them.",
            n_features=5000,
            n_relevant=0,
            n_samples=50,
            _make=make_random_labels,
            _make_test=make_random_labels,
        ),
        Source(
            "beta-bernoulli",
            "2000 binary features, each a little more frequent in one class.",
            n_features=_N_BINARY,
            n_relevant=_N_BINARY,
            n_samples=200,
            _make=_make_beta_bernoulli,
            _make_test=_make_beta_bernoulli,
        ),
        Source(
            "linear-regression",
            "Normal features, 10 of 60 relevant; they explain half of the variance of "
            "a number.",
            n_features=60,
            n_relevant=10,
            n_samples=125,
            _make=make_linear_regression,
            _make_test=make_linear_regression,
            kind="numbers",
        ),
        Source(
            "friedman",
            "Uniform features, 5 of 60 relevant; a number on a curved surface.",
            n_features=60,
            n_relevant=5,
            n_samples=125,
            _make=make_friedman,
            _make_test=make_friedman,
            kind="numbers",
        ),
        Source(
            "random-numbers",
            "5000 normal features, and numbers that are independent of them.",
            n_features=5000,
            n_relevant=0,
            n_samples=50,
            _make=make_random_numbers,
            _make_test=make_random_numbers,
            kind="numbers",
        ),
        Source(
            "survival",
            "Normal features, 10 of 60 relevant for the hazard; 30 % of the times are "
            "censored.",
            n_features=60,
            n_relevant=10,
            n_samples=200,
            _make=make_survival,
            _make_test=make_survival,
            kind="survival",
        ),
        Source(
            "random-survival",
            "2000 normal features, and survival times that are independent of them.",
            n_features=2000,
            n_relevant=0,
            n_samples=60,
            _make=make_random_survival,
            _make_test=make_random_survival,
            kind="survival",
        ),
    )
}
