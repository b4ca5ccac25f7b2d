"""Where libraries find DynamoDB: their requests go to DYNAMODB_ENDPOINT, which counts them."""

import os

import boto3

ENDPOINT = os.environ["DYNAMODB_ENDPOINT"]
REGION = "us-east-1"


def create_table(name: str, **keys: str) -> None:
    """Creates an on-demand table with string keys, by kind: HASH or RANGE."""
    boto3.client("dynamodb", endpoint_url=ENDPOINT, region_name=REGION).create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": k, "AttributeType": "S"} for k in keys],
        KeySchema=[{"AttributeName": k, "KeyType": kind} for k, kind in keys.items()],
    )
