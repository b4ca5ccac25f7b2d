"""ADK's errors, in versions 1 and 2. Where version 1 raises a plain ValueError,
these are subclasses of it."""

try:
    from google.adk.errors import InvocationNotFoundError, StaleSessionError  # pyright: ignore[reportAssignmentType]
except ImportError:

    class InvocationNotFoundError(ValueError):
        """The session has no such invocation."""

    class StaleSessionError(ValueError):
        """The session has events that the object lacks."""


__all__ = ["InvocationNotFoundError", "StaleSessionError"]
