"""What a saver appends: checkpoints with their new messages, and pending writes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from .history import MEMBER, History
from .messages import author_of, content_of
from .puts import Put, PutWrites
from .records import Checkpoint, Writer, Writes, loaded
from .values import Codec, Stored

Event = dict[str, Any]

# The most messages that one append shows; the API takes 100 events.
_SHOWN = 98

# A checkpoint from one of these begins an invocation: an input, or a change from outside.
_BEGINNINGS = ("input", "update", "fork")


class Events:
    """Makes events of what is to be stored.

    Args:
      agent: the author of the agent's messages.
      messages: the channel of the outermost graph whose messages are shown.
    """

    def __init__(self, codec: Codec, agent: str, messages: str) -> None:
        self._codec = codec
        self._agent = agent
        self._messages = messages

    def body(self, put: Put) -> Stored:
        """Returns the stored form of a checkpoint without the values of its channels."""
        return self._codec.dump({k: v for k, v in put.checkpoint.items() if k != "channel_values"})

    def checkpoint(self, put: Put, history: History) -> list[Event]:
        """Returns the events of a checkpoint: its new messages, and what the newest one lacks."""
        tip = history.tips.get(put.namespace)
        builds = tip is not None and tip.id == put.parent
        writer = Writer(self._codec, history.list_of, put.namespace)
        values: dict[str, Stored | None] = {}
        given = put.checkpoint["channel_values"]
        for name, version in put.checkpoint["channel_versions"].items():
            if (
                tip is not None
                and builds
                and name not in put.new_versions
                and tip.versions.get(name) == version
            ):
                continue
            if name in given:
                show = _SHOWN if put.namespace == "" and name == self._messages else 0
                values[name] = writer.value(name, given[name], show)
            else:
                values[name] = None
        record = {
            "ns": put.namespace,
            "id": put.id,
            "parent": put.parent,
            "builds": builds,
            "body": self.body(put),
            "metadata": self._codec.dump(dict(put.metadata)),
            "values": values,
        }
        invocation = self._invocation(put, history, [message for message, _ in writer.shown])
        shown = [self._message(*pair) for pair in writer.shown]
        return _numbered([*shown, self._hidden({"checkpoint": record})], invocation, history)

    def writes(self, put: PutWrites, history: History) -> Event:
        """Returns the event of pending writes, without an id."""
        writer = Writer(self._codec, history.list_of, put.namespace)
        stored = [[index, channel, writer.value(channel, value)] for index, channel, value in put.writes]
        where = {"ns": put.namespace, "of": put.checkpoint, "task": put.task, "path": put.path}
        return self._hidden({**where, "writes": stored})

    def forget(self, keys: Sequence[tuple[str, str]], history: History) -> list[Event]:
        """Returns the event that deletes checkpoints."""
        return self.hidden([self._hidden({"forget": [list(key) for key in keys]})], history)

    def hidden(self, events: list[Event], history: History) -> list[Event]:
        """Returns events that belong to the newest invocation."""
        return _numbered(events, history.invocation or str(uuid.uuid4()), history)

    def again(self, checkpoint: Checkpoint, history: History) -> list[Event]:
        """Returns events that make a checkpoint the newest, which is of the invocation just rewound."""
        kept = ("author", "content", MEMBER)
        events = [
            {name: event[name] for name in kept} for event in history.missing(checkpoint) if MEMBER in event
        ]
        return _numbered(events, str(uuid.uuid4()), history)

    def writes_again(self, checkpoint: Checkpoint, history: History) -> list[Event]:
        """Returns the events of a checkpoint's pending writes."""
        known = history.writes.get((checkpoint.namespace, checkpoint.id), Writes())
        puts = [
            PutWrites("", checkpoint.id, task, path, [(index, channel, loaded(self._codec, value))])
            for task, index, path, channel, value in known.ordered()
        ]
        return self.hidden([self.writes(put, history) for put in puts], history)

    def _invocation(self, put: Put, history: History, shown: list[BaseMessage]) -> str:
        current = history.invocation
        if current is not None and not self._begins(put, history, shown):
            return current
        return put.id if put.id not in history.invocations else str(uuid.uuid4())

    def _begins(self, put: Put, history: History, shown: list[BaseMessage]) -> bool:
        if put.namespace != "":
            return False
        tip = history.tips.get("")
        if tip is None or put.metadata.get("source") in _BEGINNINGS:
            return True
        last = self._codec.load(tip.metadata).get("step", 0)
        asked = any(message.type == "human" for message in shown)
        return put.metadata.get("step", 0) > last + 1 or (asked and history.spoken())

    def _message(self, message: BaseMessage, stored: Stored) -> Event:
        payload = {name: value for name, value in stored.items() if name != "content"}
        author = author_of(message, self._agent)
        return {"author": author, "content": content_of(message), MEMBER: payload}

    def _hidden(self, payload: Stored) -> Event:
        return {"author": self._agent, "content": None, MEMBER: payload}


def _numbered(events: list[Event], invocation: str, history: History) -> list[Event]:
    """Gives events ids that name their invocation, by the position that they will have."""
    return [
        {"id": f"{invocation}.{history.head + at}", "invocation_id": invocation, **event}
        for at, event in enumerate(events, start=1)
    ]
