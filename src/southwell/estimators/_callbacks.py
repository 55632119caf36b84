"""What scikit-learn has from version 1.9 on: callbacks, and a setting for the type of sparse results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # older versions have no set_callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        pass

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


try:
    from sklearn.utils._sparse import _align_api_if_sparse as as_scikit_learn_has
except ImportError:
    from scipy.sparse import csr_matrix as as_scikit_learn_has


__all__ = ["CallbackSupportMixin", "Hooks", "as_scikit_learn_has", "with_callbacks"]


class Hooks:
    """Calls an estimator's callbacks for a tree of tasks: the fit, its problems if there are several, and their rounds,
    one for each certificate. A callback that returns True at the end of a round ends its problem."""

    def __init__(self, estimator: Any, data: Any, problems: int, choosing: bool = False) -> None:
        self.active = bool(getattr(estimator, "_skl_callbacks", ()))
        if not hasattr(estimator, "_init_callback_context"):
            return
        several = problems > 1
        root = estimator._init_callback_context(
            max_subtasks=problems + choosing if several or choosing else None,
            sequential_subtasks=not several and not choosing,
        )
        metadata = None if data.sample_weight is None else {"sample_weight": data.sample_weight}
        self.root, self.contexts = root, {} if several or choosing else {0: root}
        self.tell = {"estimator": estimator, "X": data.X, "y": data.y, "metadata": metadata}
        root.call_on_fit_task_begin(**self.tell)

    def _context(self, k: int, name: str) -> Any:
        if k not in self.contexts:
            self.contexts[k] = self.root.subcontext(task_name=name, task_id=k, max_subtasks=None)
            self.contexts[k].call_on_fit_task_begin(**self.tell)
        return self.contexts[k]

    def round(self, k: int, attributes: Callable[[], dict[str, Any]] | None) -> bool:
        """Report a certificate of problem k and its model. Returns whether a callback asked to stop."""
        if not self.active:
            return False
        task = self._context(k, "problem").subcontext(task_name="round").call_on_fit_task_begin(**self.tell)
        return bool(task.call_on_fit_task_end(**self.tell, reconstruction_attributes=attributes))

    def path(self, problems: int) -> None:
        """Report a finished path of cross-validation; its task comes after those of the problems."""
        if not self.active:
            return
        task = self._context(problems, "paths").subcontext(task_name="path").call_on_fit_task_begin(**self.tell)
        task.call_on_fit_task_end(**self.tell)

    def end(self) -> None:
        if hasattr(self, "root"):
            for context in self.contexts.values():
                if context is not self.root:
                    context.call_on_fit_task_end(**self.tell)
            self.root.call_on_fit_task_end(**self.tell, reconstruction_attributes={})
