"""Classifiers that compute log-probabilities: all other predictions follow."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from veridical._core.arrays import FloatArray


class ByLogProbability(ClassifierMixin, BaseEstimator):
    """A classifier that names the class of the largest log-probability."""

    classes_: NDArray[Any]

    @abstractmethod
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log-probabilities of the classes."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute probabilities of the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the most probable class; the first of them where they tie.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples,)
            A label of ``classes_`` per case.
        """
        best = self._preference(X).argmax(axis=1)
        return self.classes_[best]

    def _preference(self, X: Any) -> FloatArray:
        """Give what is largest for the most probable class."""
        return self.predict_log_proba(X)
