"""The result of a part of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..types import ImportProgress, Session


@dataclass(frozen=True)
class Imported:
    """The session if the part was the last one, otherwise the progress.

    Attributes:
      kept: shared keys whose values were kept instead of the document's.
    """

    session: Session | None = None
    progress: ImportProgress | None = None
    kept: list[str] = field(default_factory=list[str])


def imported(body: Any) -> Imported:
    """Returns the result that an answer has."""
    if "import_id" in body["data"]:
        return Imported(progress=body["data"])
    meta: dict[str, Any] = body.get("meta") or {}
    return Imported(session=body["data"], kept=meta.get("kept", []))
