"""ADK's errors, in versions 1 and 2. Where version 1 raises a plain ValueError,
these are subclasses of it."""

try:
    from google.adk.errors import InvocationNotFoundError, StaleSessionError
except ImportError:

    class InvocationNotFoundError(ValueError):  # type: ignore[no-redef]
        """The session has no such invocation."""

    class StaleSessionError(ValueError):  # type: ignore[no-redef]
        """The session has events that the object lacks."""


__all__ = ["InvocationNotFoundError", "StaleSessionError"]
