"""Messages of LangChain as the content of events, which user interfaces show.

An event has the text, the tool calls and the results of tools in the parts that all clients
of Rethread use. The member `fields` has what parts cannot express. A message that these two
do not restore exactly is stored in its serialised form as well.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from .._core.arguments import is_text
from .._core.storable import storable, text

_CLASSES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "tool": ToolMessage,
    "system": SystemMessage,
}

# These have the same value in every message of a class, unless they are set.
_EMPTY: tuple[object, ...] = (None, {}, [], False)


def author_of(message: BaseMessage, agent: str) -> str:
    """Returns the author of the message's event."""
    return "user" if message.type == "human" else agent


def content_of(message: BaseMessage) -> dict[str, Any] | None:
    """Returns the content to show; None for messages that only the model sees."""
    if message.type == "system":
        return None
    parts = [_result(message)] if isinstance(message, ToolMessage) else _texts(message)
    if isinstance(message, AIMessage):
        parts += [
            {"function_call": {"id": call["id"] or "", "name": call["name"], "args": call["args"]}}
            for call in message.tool_calls
        ]
    role = "user" if message.type in ("human", "tool") else "model"
    return storable({"role": role, "parts": parts})


def well_formed(message: BaseMessage) -> BaseMessage:
    """Returns a message without half characters: what is stored is what is compared later."""
    changed = {name: _texts_of(value) for name, value in vars(message).items() if not _is_well_formed(value)}
    return message.model_copy(update=changed) if changed else message


def _is_well_formed(value: Any) -> bool:
    if isinstance(value, str):
        return is_text(value)
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        return all(_is_well_formed(name) and _is_well_formed(member) for name, member in members.items())
    return not isinstance(value, list) or all(map(_is_well_formed, cast("list[Any]", value)))


def _texts_of(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        return {_texts_of(name): _texts_of(member) for name, member in members.items()}
    return [_texts_of(entry) for entry in cast("list[Any]", value)] if isinstance(value, list) else value


def fields_of(message: BaseMessage) -> dict[str, Any] | None:
    """Returns what the content does not have; None if the message's class is not known."""
    if _CLASSES.get(message.type) is not type(message):
        return None
    fields = {
        name: value
        for name, value in message.model_dump().items()
        if name != "type" and not any(value is empty or value == empty for empty in _EMPTY)
    }
    if isinstance(message.content, str) and message.type != "system":
        fields.pop("content", None)
    else:
        fields["content"] = message.content
    return {"type": message.type, **fields}


def whole(fields: dict[str, Any], content: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the fields with the event's text, if the message's content is that."""
    return fields if "content" in fields else {**fields, "content": _text_in(content)}


def message_of(fields: dict[str, Any], content: dict[str, Any] | None) -> BaseMessage:
    """Returns the message with these fields, and with the event's text if they have none."""
    given = dict(whole(fields, content))
    return _CLASSES[given.pop("type")](**given)


def _texts(message: BaseMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}] if message.content else []
    parts: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, str):
            parts.append({"text": block})
        elif isinstance(block.get("text"), str):
            parts.append({"text": block["text"]})
        elif block.get("type") in ("thinking", "reasoning"):
            thought = block.get("thinking") or block.get("reasoning")
            parts += [{"text": thought, "thought": True}] if isinstance(thought, str) else []
    return parts


def _result(message: ToolMessage) -> dict[str, Any]:
    response = {"result": message.content}
    return {
        "function_response": {"id": message.tool_call_id, "name": message.name or "", "response": response}
    }


def _text_in(content: dict[str, Any] | None) -> str:
    """The text of a message whose content is a string."""
    for part in (content or {}).get("parts", []):
        if "function_response" in part:
            return str(part["function_response"]["response"]["result"])
        if "text" in part:
            return str(part["text"])
    return ""
