"""A client of Rethread, the conversation store for AI agents: `Rethread`, and `AsyncRethread` for asyncio."""

from . import codes, types
from ._async.client import AsyncRethread
from ._async.invocation import AsyncInvocation
from ._async.resource import AsyncList
from ._core.answers import Answer
from ._core.artifact import Artifact
from ._core.calls import CallOptions, ChangeOptions, WriteOptions
from ._core.imported import Imported
from ._core.invocations import InvocationEvent
from ._core.pages import Page
from ._core.retries import Retries
from ._core.threads import StartedThread, ThreadPage
from ._sync.client import Rethread
from ._sync.invocation import Invocation
from ._sync.resource import List
from .errors import (
    ConflictError,
    FieldError,
    ForbiddenError,
    NoAnswerError,
    NoAnswerInTimeError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitedError,
    RethreadError,
    UnauthorizedError,
    UnavailableError,
    ValidationError,
)
from .messages import ItemDelta, WatchMessage
from .view import View

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "Artifact",
    "AsyncInvocation",
    "AsyncList",
    "AsyncRethread",
    "CallOptions",
    "ChangeOptions",
    "ConflictError",
    "FieldError",
    "ForbiddenError",
    "Imported",
    "Invocation",
    "InvocationEvent",
    "ItemDelta",
    "List",
    "NoAnswerError",
    "NoAnswerInTimeError",
    "NotFoundError",
    "Page",
    "PreconditionFailedError",
    "RateLimitedError",
    "Rethread",
    "RethreadError",
    "Retries",
    "StartedThread",
    "ThreadPage",
    "UnauthorizedError",
    "UnavailableError",
    "ValidationError",
    "View",
    "WatchMessage",
    "WriteOptions",
    "__version__",
    "codes",
    "types",
]
