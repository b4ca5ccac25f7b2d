"""LlamaIndex's DynamoDBChatStore, which keeps a thread in one item."""

from bench import Peer, serve
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.storage.chat_store.dynamodb.base import DynamoDBChatStore
from tables import ENDPOINT, REGION, create_table

TABLE = "llamaindex"


def message(role: MessageRole, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=text)


class LlamaIndex(Peer):
    def __init__(self) -> None:
        self.store = DynamoDBChatStore(
            table_name=TABLE, region_name=REGION, resource_kwargs={"endpoint_url": ENDPOINT}
        )

    def turn(self, thread: str, question: str, answer: str) -> None:
        self.store.add_message(thread, message(MessageRole.USER, question))
        self.store.add_message(thread, message(MessageRole.ASSISTANT, answer))

    def load(self, thread: str) -> list[str]:
        return [str(m.content) for m in self.store.get_messages(thread)]

    def rewind(self, thread: str) -> None:
        for _ in range(2):
            self.store.delete_last_message(thread)

    def fork(self, thread: str, into: str) -> None:
        self.store.set_messages(into, self.store.get_messages(thread)[:-2])

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        messages = self.store.get_messages(thread) + [message(MessageRole.USER, question)]
        text = ""
        for part in parts:
            text += part
            self.store.set_messages(thread, messages + [message(MessageRole.ASSISTANT, text)])


if __name__ == "__main__":
    create_table(TABLE, SessionId="HASH")
    serve(LlamaIndex())
