"""The saver's methods for graphs that run asynchronously.

Requests block threads of an own pool: waiting for Rethread holds up neither the event loop nor
what else the program does in its default pool.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    _Base = BaseCheckpointSaver[int]
else:
    _Base = object

P = ParamSpec("P")
T = TypeVar("T")

# Requests that wait at the same time.
_WORKERS = 32


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="rethread")


async def _run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    bound = functools.partial(call, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool(), bound)


class AsyncMethods(_Base):
    """The asynchronous methods of a saver, which call the others."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Does what `get_tuple` does."""
        return await _run(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Does what `list` does."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (known := await _run(next, found, None)) is not None:
            yield known

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Does what `put` does."""
        return await _run(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Does what `put_writes` does."""
        await _run(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Does what `delete_thread` does."""
        await _run(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Does what `delete_for_runs` does."""
        await _run(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Does what `copy_thread` does."""
        await _run(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Does what `prune` does."""
        await _run(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Does what `get_delta_channel_history` does."""
        return await _run(self.get_delta_channel_history, config=config, channels=channels)
