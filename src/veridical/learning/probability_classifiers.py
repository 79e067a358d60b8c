"""Classifiers that predict the most probable class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from veridical._core.arrays import FloatArray, IntArray


class ProbabilityClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that predicts the most probable class."""

    classes_: NDArray[Any]

    @abstractmethod
    def _most_probable(self, X: Any) -> IntArray:
        """Return the index in ``classes_`` of the most probable class per sample."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples,)
            A label of ``classes_`` per sample.
        """
        best = self._most_probable(X)  # raises if not fitted
        return self.classes_[best]


class LogProbabilityClassifier(ProbabilityClassifier):
    """A classifier that computes log-probabilities; all other predictions follow."""

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

    def _most_probable(self, X: Any) -> IntArray:
        return self.predict_log_proba(X).argmax(axis=1)
