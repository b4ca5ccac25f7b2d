"""LangGraph with DynamoDBSaver; `best` compresses checkpoints and stores one a turn."""

import sys

from bench import serve
from langgraph_checkpoint_aws import DynamoDBSaver
from langgraph_graph import LangGraph
from tables import ENDPOINT, REGION, create_table

BEST = "best" in sys.argv
TABLE = "langgraph-best" if BEST else "langgraph"


class WithDynamoDB(LangGraph):
    def saver(self) -> DynamoDBSaver:
        return DynamoDBSaver(
            table_name=TABLE, endpoint_url=ENDPOINT, region_name=REGION, enable_checkpoint_compression=BEST
        )


if __name__ == "__main__":
    create_table(TABLE, PK="HASH", SK="RANGE")
    serve(WithDynamoDB("exit" if BEST else None))
