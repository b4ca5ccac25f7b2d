"""Messages as events, and events as messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from strands.types.content import Message
from strands.types.session import SessionMessage

# The members of an event that hold the message as Strands writes it, and its agent.
_MESSAGE, _AGENT = "strands_message", "strands_agent"


def begins_turn(message: Message) -> bool:
    """Whether a message is the user's, and not the result of a tool."""
    return message["role"] == "user" and not any("toolResult" in block for block in message["content"])


def message_of(message: SessionMessage, agent_id: str) -> dict[str, Any]:
    """Returns the members of an event for a message."""
    return {_MESSAGE: message.to_dict(), _AGENT: agent_id}


def agent_of(event: Mapping[str, Any], agent_id: str) -> SessionMessage | None:
    """Returns the message of an event if it is of an agent."""
    stored = event.get(_MESSAGE)
    if event.get(_AGENT) != agent_id or not isinstance(stored, dict):
        return None
    return SessionMessage.from_dict(cast("dict[str, Any]", stored))


def shown(message: SessionMessage, agent_id: str) -> tuple[str, str]:
    """Returns the author and the text that other clients show."""
    content = message.to_message()["content"]
    text = "".join(_text(cast("Mapping[str, Any]", block)) for block in content)
    return ("user" if begins_turn(message.message) else agent_id), text


def _text(block: Mapping[str, Any]) -> str:
    if "text" in block:
        return str(block["text"])
    if "toolUse" in block:
        use = block["toolUse"]
        return f"{use['name']}({json.dumps(use['input'], ensure_ascii=False)})"
    if "toolResult" in block:
        return "".join(_text(result) for result in block["toolResult"]["content"])
    return ""
