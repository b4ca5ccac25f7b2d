"""LangChain's DynamoDBChatMessageHistory, which keeps a thread in one item."""

from bench import Peer, serve
from langchain_community.chat_message_histories import DynamoDBChatMessageHistory
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from tables import ENDPOINT, create_table

TABLE = "langchain"


def history(thread: str) -> DynamoDBChatMessageHistory:
    return DynamoDBChatMessageHistory(table_name=TABLE, session_id=thread, endpoint_url=ENDPOINT)


def joined(messages: list[BaseMessage]) -> list[str]:
    """Returns the texts, with the chunks of an answer as one."""
    texts: list[str] = []
    before = None
    for m in messages:
        if isinstance(m, AIMessageChunk) and isinstance(before, AIMessageChunk):
            texts[-1] += str(m.content)
        else:
            texts.append(str(m.content))
        before = m
    return texts


class LangChain(Peer):
    def turn(self, thread: str, question: str, answer: str) -> None:
        history(thread).add_messages([HumanMessage(question), AIMessage(answer)])

    def load(self, thread: str) -> list[str]:
        return joined(history(thread).messages)

    def rewind(self, thread: str) -> None:
        of = history(thread)
        kept = of.messages[:-2]
        of.clear()
        of.add_messages(kept)

    def fork(self, thread: str, into: str) -> None:
        history(into).add_messages(history(thread).messages[:-2])

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        of = history(thread)
        of.add_messages([HumanMessage(question)])
        for part in parts:
            of.add_messages([AIMessageChunk(part)])


if __name__ == "__main__":
    create_table(TABLE, SessionId="HASH")
    serve(LangChain())
