"""Progress of long fits through scikit-learn's callbacks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from sklearn.callback import CallbackSupportMixin, with_callbacks

from veridical._core.sklearn_private import is_watched
from veridical._core.table import Table
from veridical.kernels.trainsets import TrainSets
from veridical.selection._base import Selector


class ReportsProgress(CallbackSupportMixin, Selector):
    """A selector whose fit is a loop that callbacks can watch.

    ``set_callbacks(sklearn.callback.ProgressBar())`` shows how far it has come. A
    subclass says how many steps there are and calls ``_tick`` after each.
    """

    @abstractmethod
    def _n_steps(self, data: Table) -> int | None:
        """How many steps a fit takes; None if that is not known beforehand."""

    @with_callbacks
    def _keep(self, data: Table, sets: TrainSets) -> Self:
        root = self._init_callback_context(max_subtasks=self._n_steps(data))
        root.call_on_fit_task_begin(estimator=self)
        super()._keep(data, sets)
        root.call_on_fit_task_end(estimator=self)
        return self

    @property
    def _watched(self) -> bool:
        """Whether a fit is going on that callbacks watch."""
        return is_watched(self)

    def _tick(self) -> None:
        """Tell the callbacks that a step is done."""
        if self._watched:
            step = self._callback_fit_ctx.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self)
            step.call_on_fit_task_end(estimator=self)
