"""What LangGraph gets: checkpoints of a history in its own types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory, PendingWrite

from .history import History
from .records import Checkpoint, Writes, loaded
from .values import Codec


def place(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Returns the thread, the namespace and the checkpoint that a config names."""
    where = config.get("configurable", {})
    return str(where["thread_id"]), where.get("checkpoint_ns", ""), where.get("checkpoint_id")


def config_of(whose: Mapping[str, Any], thread_id: str, namespace: str, checkpoint: str) -> RunnableConfig:
    """Returns the config that names a checkpoint, and the user if `whose` has one."""
    where = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint}
    return {"configurable": {**whose, **where}}


def tuple_of(
    codec: Codec, history: History, whose: Mapping[str, Any], thread_id: str, known: Checkpoint
) -> CheckpointTuple:
    """Returns a checkpoint with copies of its values and pending writes."""
    parent = config_of(whose, thread_id, known.namespace, known.parent) if known.parent else None
    checkpoint: Any = codec.load(known.body)
    checkpoint["channel_values"] = {name: loaded(codec, value) for name, value in known.values.items()}
    return CheckpointTuple(
        config_of(whose, thread_id, known.namespace, known.id),
        checkpoint,
        codec.load(known.metadata),
        parent,
        _writes(codec, history, known),
    )


def matching(
    codec: Codec, history: History, where: Mapping[str, Any], filter: Mapping[str, Any], end: str | None
) -> list[Checkpoint]:
    """Returns the checkpoints with this namespace, id and metadata and before an end, newest first."""

    def wanted(known: Checkpoint) -> bool:
        if known.namespace != where.get("checkpoint_ns", known.namespace):
            return False
        if known.id != (where.get("checkpoint_id") or known.id) or (end is not None and known.id >= end):
            return False
        metadata: dict[str, Any] = codec.load(known.metadata) if filter else {}
        return all(metadata.get(name) == value for name, value in filter.items())

    found = [known for known in history.checkpoints.values() if wanted(known)]
    return sorted(found, key=lambda known: known.id, reverse=True)


def superseded(history: History) -> list[tuple[str, str]]:
    """Returns all checkpoints but the newest of each namespace."""
    namespaces = {namespace for namespace, _ in history.checkpoints}
    newest = {namespace: history.latest(namespace) for namespace in namespaces}
    kept = {(known.namespace, known.id) for known in newest.values() if known}
    return [key for key in history.checkpoints if key not in kept and newest[key[0]]]


def changes(
    codec: Codec, history: History, known: Checkpoint | None, channels: Sequence[str]
) -> dict[str, DeltaChannelHistory]:
    """Returns, for each channel, the writes since its last whole value, and that value."""
    writes: dict[str, list[PendingWrite]] = {name: [] for name in channels}
    seeds: dict[str, Any] = {}
    record = _parent(history, known)
    while record is not None and len(seeds) < len(writes):
        for write in reversed(_writes(codec, history, record)):
            if write[1] in writes and write[1] not in seeds:
                writes[write[1]].append(write)
        for name in writes.keys() - seeds.keys():
            if name in record.values:
                seeds[name] = loaded(codec, record.values[name])
        record = _parent(history, record)
    result: dict[str, DeltaChannelHistory] = {}
    for name, found in writes.items():
        result[name] = {"writes": found[::-1]}
        if name in seeds:
            result[name]["seed"] = seeds[name]
    return result


def _parent(history: History, known: Checkpoint | None) -> Checkpoint | None:
    if known is None or known.parent is None:
        return None
    key = (known.namespace, known.parent)
    return history.checkpoints.get(key) or history.deleted.get(key)


def _writes(codec: Codec, history: History, known: Checkpoint) -> list[PendingWrite]:
    stored = history.writes.get((known.namespace, known.id), Writes())
    return [(task, channel, loaded(codec, value)) for task, _, _, channel, value in stored.ordered()]
