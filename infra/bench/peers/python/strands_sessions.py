"""Strands Agents with strands-session-dynamodb: an agent for each thread, called once a turn."""

from collections.abc import AsyncIterable
from typing import Any

from bench import Peer, serve
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.models.model import Model
from strands.types.content import Message
from strands.types.session import SessionMessage
from strands_agents_session.keys import message_sk, messages_pk
from strands_session_dynamodb import DynamoDBSessionManager
from tables import ENDPOINT, REGION

AGENT = "assistant"


class Scripted(Model):
    """A model with a given answer."""

    answer = ""

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncIterable[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": self.answer}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def manager(thread: str) -> DynamoDBSessionManager:
    return DynamoDBSessionManager(thread, "strands", region_name=REGION, endpoint_url=ENDPOINT)


def said(role: Any, text: str) -> Message:
    return {"role": role, "content": [{"text": text}]}


class Strands(Peer):
    def __init__(self) -> None:
        self.model = Scripted()
        self.agents: dict[str, Agent] = {}

    def agent(self, thread: str, messages: list[Message] | None = None) -> Agent:
        """Makes an agent, which reads its thread. No message is dropped from the model's context."""
        return Agent(
            model=self.model,
            agent_id=AGENT,
            messages=messages,
            session_manager=manager(thread),
            conversation_manager=NullConversationManager(),
            callback_handler=None,
        )

    def turn(self, thread: str, question: str, answer: str) -> None:
        if thread not in self.agents:
            self.agents[thread] = self.agent(thread)
        self.model.answer = answer
        self.agents[thread](question)

    def load(self, thread: str) -> list[str]:
        return ["".join(str(part["text"]) for part in m["content"]) for m in self.agent(thread).messages]

    def rewind(self, thread: str) -> None:
        stored = manager(thread)
        for m in stored.list_messages(thread, AGENT)[-2:]:
            stored.storage.delete(messages_pk(thread, AGENT), message_sk(m.message_id))

    def fork(self, thread: str, into: str) -> None:
        self.agent(into, self.agent(thread).messages[:-2])

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        stored = manager(thread)
        number = stored.list_messages(thread, AGENT)[-1].message_id + 1
        stored.create_message(thread, AGENT, SessionMessage.from_message(said("user", question), number))
        text = parts[0]
        stored.create_message(thread, AGENT, SessionMessage.from_message(said("assistant", text), number + 1))
        for part in parts[1:]:
            text += part
            stored.update_message(thread, AGENT, SessionMessage.from_message(said("assistant", text), number + 1))


if __name__ == "__main__":
    serve(Strands())
