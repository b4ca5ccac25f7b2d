"""What a saver is given to store: checkpoints, and pending writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import RethreadError
from .history import History
from .records import Checkpoint


@dataclass(frozen=True)
class Put:
    """A checkpoint to store."""

    namespace: str
    parent: str | None
    checkpoint: Mapping[str, Any]
    metadata: Mapping[str, Any]
    new_versions: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The checkpoint's id."""
        return str(self.checkpoint["id"])

    def follows(self, history: History) -> bool:
        """Whether the newest checkpoint of the outermost graph is the one that this one continues."""
        tip, root = history.tips.get(""), self.root(history)
        return (tip.id if tip else None) == (root.id if root else None)

    def root(self, history: History) -> Checkpoint | None:
        """Returns the checkpoint of the outermost graph that this one continues.

        That is the newest one if the parent is not known: in a graph below, its checkpoint may be
        on its way.
        """
        parents = {"": self.parent} if self.namespace == "" else self.metadata.get("parents", {})
        wanted = parents.get("", "")
        if wanted is None:
            return None
        return history.checkpoints.get(("", wanted)) or history.tips.get("")


@dataclass(frozen=True)
class PutWrites:
    """Pending writes of a task to store: index, channel and value of each."""

    namespace: str
    checkpoint: str
    task: str
    path: str
    writes: Sequence[tuple[int, str, Any]]


@dataclass(eq=False)
class Pending:
    """Pending writes that wait for a request.

    Attributes:
      done: whether a request with them has ended.
      failure: why it failed.
    """

    put: PutWrites
    done: bool = False
    failure: Exception | None = None


def concerns_one(failure: Exception) -> bool:
    """Whether a request with several writes failed because of one of them: it cannot be encoded,
    breaks a rule, or is too large."""
    return not isinstance(failure, RethreadError) or failure.status in (400, 413, 422)
