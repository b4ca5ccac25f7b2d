"""What belongs to an event loop."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

T = TypeVar("T")

Lock = asyncio.Lock


class Recent(Generic[T]):
    """What was used last, by name. Each event loop has its own.

    Args:
      most: the number that is kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._per_loop: dict[asyncio.AbstractEventLoop, OrderedDict[Hashable, T]] = {}

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """Returns what has a name, and makes it if there is none."""
        known = self._of_loop(asyncio.get_running_loop())
        if name not in known:
            known[name] = make()
        known.move_to_end(name)
        if len(known) > self._most:
            known.popitem(last=False)
        return known[name]

    def _of_loop(self, loop: asyncio.AbstractEventLoop) -> OrderedDict[Hashable, T]:
        """Returns what the loop has used, and forgets what loops that have ended used."""
        known = self._per_loop.get(loop)
        if known is None:
            known = OrderedDict[Hashable, T]()
            live = {other: used for other, used in self._per_loop.items() if not other.is_closed()}
            self._per_loop = {**live, loop: known}
        return known


@dataclass
class _Last:
    """The event loop that has used a saver last, or a clone of it."""

    loop: asyncio.AbstractEventLoop | None


class AsyncBase(BaseCheckpointSaver[Any]):
    """Gives an asynchronous saver the synchronous methods, which synchronous nodes call in other
    threads. They run in the event loop that has used the saver last, and raise
    asyncio.InvalidStateError if there is none, or in the thread of a loop, which would wait for itself."""

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._last = _Last(asyncio._get_running_loop())

    def _used(self) -> None:
        """Notes that the running loop uses the saver."""
        self._last.loop = asyncio.get_running_loop()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Does what aget_tuple does, from another thread."""
        return self._wait(lambda: self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Does what alist does, from another thread."""
        found: Any = self.alist(config, filter=filter, before=before, limit=limit)
        try:
            while True:
                try:
                    yield self._wait(lambda: anext(found))
                except StopAsyncIteration:
                    return
        finally:
            self._wait(lambda: found.aclose())

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Does what aput does, from another thread."""
        return self._wait(lambda: self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Does what aput_writes does, from another thread."""
        self._wait(lambda: self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Does what adelete_thread does, from another thread."""
        self._wait(lambda: self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Does what adelete_for_runs does, from another thread."""
        self._wait(lambda: self.adelete_for_runs(run_ids))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Does what aprune does, from another thread."""
        self._wait(lambda: self.aprune(thread_ids, strategy=strategy))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Does what acopy_thread does, from another thread."""
        self._wait(lambda: self.acopy_thread(source_thread_id, target_thread_id))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Does what aget_delta_channel_history does, from another thread."""
        return self._wait(lambda: self.aget_delta_channel_history(config=config, channels=channels))

    def _wait(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs a call in the saver's loop and waits for its result."""
        if asyncio._get_running_loop() is not None:
            raise asyncio.InvalidStateError(
                "A synchronous call would block this thread's event loop: use the asynchronous interface, "
                "such as `await saver.aget_tuple(…)` or `await graph.ainvoke(…)`."
            )
        loop = self._last.loop
        if loop is None or not loop.is_running():
            raise asyncio.InvalidStateError(
                "No running event loop has used this saver: use RethreadSaver for graphs that are invoked."
            )
        return asyncio.run_coroutine_threadsafe(begin(), loop).result()
