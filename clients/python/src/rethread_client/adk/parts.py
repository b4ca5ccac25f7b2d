"""Converts parts to the bytes and the media type of an artifact and back.

An artifact in Rethread is bytes with a Content-Type. The rest of a part goes into
parameters of the type, which other readers ignore: `adk-part`, `adk-type` and
`adk-metadata`.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from google.adk.artifacts import artifact_util
from google.adk.errors.input_validation_error import InputValidationError
from google.genai import types

from .._core.storable import text

URI_LIST = "text/uri-list"

_TEXT = "text/plain"
_BYTES = "application/octet-stream"

# Rethread's limit for a Content-Type, in characters.
_MAX_TYPE = 255

_PARAMETERS = re.compile(r'(.*?)((?:; adk-[a-z]+="[^"]*")*)', re.DOTALL)
_PARAMETER = re.compile(r'; adk-([a-z]+)="([^"]*)"')


@dataclass(frozen=True)
class MediaType:
    """A Content-Type, with the parameters that describe the part for ADK."""

    plain: str
    part: str = ""  # "text" or "file"; other parts are bytes
    file_type: str | None = None  # the media type of the file that a URI names
    metadata: dict[str, Any] | None = None

    @classmethod
    def parse(cls, content_type: str) -> MediaType:
        """Parses a Content-Type, which any client may have written."""
        found = _PARAMETERS.fullmatch(content_type)
        plain, rest = found.groups() if found else (content_type, "")
        extra = dict(_PARAMETER.findall(rest))
        file_type, metadata = extra.get("type"), extra.get("metadata")
        return cls(
            plain,
            extra.get("part", ""),
            unquote(file_type) if file_type else None,
            json.loads(base64.urlsafe_b64decode(metadata)) if metadata else None,
        )

    def __str__(self) -> str:
        text = self.plain
        if self.part:
            text += f'; adk-part="{self.part}"'
        if self.file_type:
            text += f'; adk-type="{quote(self.file_type)}"'
        if self.metadata:
            packed = json.dumps(self.metadata, separators=(",", ":")).encode()
            text += f'; adk-metadata="{base64.urlsafe_b64encode(packed).decode()}"'
        return text

    @property
    def mime_type(self) -> str | None:
        """The type shown to ADK: without charset for text, the file's own for a file."""
        if self.part == "file":
            return self.file_type
        return _TEXT if self.part == "text" else self.plain


def encode(part: types.Part, metadata: dict[str, Any] | None) -> tuple[str, bytes]:
    """Returns the Content-Type and the bytes of a part that is not a reference.

    Raises:
      InputValidationError: the part has no text, data or file URI, or the
        Content-Type with the metadata exceeds 255 characters.
    """
    if part.inline_data is not None:
        media = MediaType(part.inline_data.mime_type or _BYTES, metadata=metadata)
        body = part.inline_data.data or b""
    elif part.text is not None:
        media = MediaType(f"{_TEXT}; charset=utf-8", "text", metadata=metadata)
        body = text(part.text).encode()
    elif part.file_data is not None and part.file_data.file_uri:
        media = MediaType(URI_LIST, "file", part.file_data.mime_type, metadata)
        body = text(part.file_data.file_uri).encode()
    else:
        raise InputValidationError("Unsupported artifact type.")
    content_type = str(media)
    if metadata and len(content_type) > _MAX_TYPE:
        raise InputValidationError(
            f"Custom metadata is too long: the media type has {len(content_type)} characters,"
            f" at most {_MAX_TYPE} are possible."
        )
    return content_type, body


def decode(content_type: str, body: bytes) -> types.Part | None:
    """Returns the part of an artifact, which any client may have stored. Returns None
    for an empty application/octet-stream, by which ADK marks a missing artifact."""
    media = MediaType.parse(content_type)
    if media.part == "text":
        return types.Part(text=body.decode())
    if media.part == "file":
        uri = body.decode()
        return types.Part(file_data=types.FileData(file_uri=uri, mime_type=media.file_type))
    if media.plain == _BYTES and not body:
        return None
    return types.Part(inline_data=types.Blob(data=body, mime_type=media.plain))


def reference(app_name: str, user_id: str, uri: str) -> str:
    """Returns Rethread's URI for an artifact version, given ADK's URI.

    Raises:
      InputValidationError: the URI is invalid, or of another app or user.
    """
    target = artifact_util.parse_artifact_uri(uri)
    if target is None:
        raise InputValidationError(f"Invalid artifact reference URI: {uri}")
    if (target.app_name, target.user_id) != (app_name, user_id):
        raise InputValidationError("Artifact references must stay within the same app and user scope.")
    name = quote(target.filename, safe="")
    if target.session_id is None:
        return f"artifact://user/{name}/{target.version}"
    return f"artifact://session/{quote(target.session_id, safe='')}/{name}/{target.version}"
