"""Parts as the bytes and the media type of an artifact, and back.

An artifact in Rethread is bytes with a Content-Type. What a part is beyond
that goes into parameters of the type, which other readers pass over:
`adk-part`, `adk-type` and `adk-metadata`.
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

URI_LIST = "text/uri-list"

_TEXT = "text/plain"
_BYTES = "application/octet-stream"

# Rethread's limit for a Content-Type, in characters.
_MAX_TYPE = 255

_PARAMETERS = re.compile(r'(.*?)((?:; adk-[a-z]+="[^"]*")*)', re.DOTALL)
_PARAMETER = re.compile(r'; adk-([a-z]+)="([^"]*)"')


@dataclass(frozen=True)
class MediaType:
    """A Content-Type: what it is to everyone, and what only ADK asks for."""

    plain: str
    part: str = ""  # "text" or "file"; other parts are bytes
    file_type: str | None = None  # of the file that a URI leads to
    metadata: dict[str, Any] | None = None

    @classmethod
    def parse(cls, content_type: str) -> MediaType:
        """Reads a Content-Type, whoever made it."""
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
        """What ADK shows: of a file elsewhere the file's, of text no charset."""
        if self.part == "file":
            return self.file_type
        return _TEXT if self.part == "text" else self.plain


def encode(part: types.Part, metadata: dict[str, Any] | None) -> tuple[str, bytes]:
    """The Content-Type and the bytes of a part that is no reference.

    Raises:
      InputValidationError: the part holds neither text nor data nor a file's
        URI, or the metadata is too long.
    """
    if part.inline_data is not None:
        media = MediaType(part.inline_data.mime_type or _BYTES, metadata=metadata)
        body = part.inline_data.data or b""
    elif part.text is not None:
        media = MediaType(f"{_TEXT}; charset=utf-8", "text", metadata=metadata)
        body = part.text.encode()
    elif part.file_data is not None and part.file_data.file_uri:
        media = MediaType(URI_LIST, "file", part.file_data.mime_type, metadata)
        body = part.file_data.file_uri.encode()
    else:
        raise InputValidationError("Not supported artifact type.")
    content_type = str(media)
    if metadata and len(content_type) > _MAX_TYPE:
        raise InputValidationError(
            f"Custom metadata is too long: with it the media type has {len(content_type)} characters"
            f" of {_MAX_TYPE}."
        )
    return content_type, body


def decode(content_type: str, body: bytes) -> types.Part | None:
    """The part of an artifact, whoever stored it. None is the mark by which ADK
    makes an artifact read as not there: an empty application/octet-stream."""
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
    """Rethread's URI of the version that one of ADK's names.

    Raises:
      InputValidationError: it names none, or one of another app or user.
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
