"""Server-sent events, parsed from the bytes of a response as they arrive."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerEvent:
    """One event. `id` is the newest id so far; None before the first."""

    id: str | None
    data: str


@dataclass
class Parser:
    """Parses one response. `retry` is the delay before reconnecting, in seconds, if the server named one."""

    retry: float | None = None
    _id: str | None = None
    _data: list[str] = field(default_factory=list[str])
    _rest: str = ""
    _decode: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yields the events that a chunk completes. An incomplete one at the end is dropped."""
        text = self._rest + self._decode.decode(chunk)
        # A CR at the end may be half of a CRLF.
        held = text.endswith("\r")
        lines = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + ("\r" if held else "")
        for line in lines:
            if event := self._line(line):
                yield event

    def _line(self, line: str) -> ServerEvent | None:
        if line == "":
            data, self._data = self._data, []
            return ServerEvent(self._id, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000
        return None
