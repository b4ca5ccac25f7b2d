"""Tasks: interactions as the user interface showed them, their messages and feedback."""

from __future__ import annotations

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, WriteOptions
from ..types import (
    Feedback,
    FeedbackAccepted,
    FeedbackRequest,
    Message,
    SingleTask,
    Task,
    TaskSave,
    TaskSaved,
)
from .resource import AsyncList, AsyncResource

_TASKS = "/sessions/{}/tasks"


class AsyncTasks(AsyncResource):
    """The tasks of sessions."""

    def list(
        self,
        session_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Task]:
        """The tasks that a session shows, oldest first."""
        query = {"limit": limit, "cursor": cursor}
        return self._pages(
            _TASKS, (session_id,), query, options, lambda body, _: (body["tasks"], body["next_cursor"])
        )

    async def get(self, session_id: str, task_id: str, **options: Unpack[CallOptions]) -> SingleTask:
        """Reads a task."""
        return await self._body(Call(path=_TASKS + "/{}", params=(session_id, task_id)), {**options})

    async def save(self, session_id: str, task: TaskSave, **options: Unpack[WriteOptions]) -> TaskSaved:
        """Creates or replaces a task."""
        call = Call(method="POST", path=_TASKS, params=(session_id,), json=task, repeat="key")
        return await self._body(call, {**options})

    async def delete(self, session_id: str, task_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a task."""
        call = Call(method="DELETE", path=_TASKS + "/{}", params=(session_id, task_id), repeat="delete")
        await self._done(call, {**options})


class AsyncMessages(AsyncResource):
    """The messages of sessions."""

    def list(
        self,
        session_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Message]:
        """The bubbles of a session's tasks, oldest first."""
        query = {"limit": limit, "cursor": cursor}
        return self._pages(
            "/sessions/{}/messages",
            (session_id,),
            query,
            options,
            lambda body, headers: (body, headers.get("X-Next-Cursor")),
        )


class AsyncFeedbacks(AsyncResource):
    """The user's feedback on tasks."""

    def list(
        self,
        *,
        session_id: str | None = None,
        task_id: str | None = None,
        type: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Feedback]:
        """Feedback, oldest first."""
        query = {"session_id": session_id, "task_id": task_id, "type": type, "limit": limit}
        return self._pages(
            "/feedback",
            (),
            {**query, "cursor": cursor},
            options,
            lambda body, _: (body["feedback"], body["next_cursor"]),
        )

    async def give(self, feedback: FeedbackRequest, **options: Unpack[WriteOptions]) -> FeedbackAccepted:
        """Gives feedback on a task."""
        call = Call(method="POST", path="/feedback", json=feedback, repeat="key")
        return await self._body(call, {**options})
