"""What a schema cannot say about valid requests.

A generated text that has the form of a cursor is still nobody's cursor, and one
that has the form of an ETag is not the session's: the API rightly refuses both.
Two requests that happen to share an Idempotency-Key are no repetition, and the
events of a batch must not share an id. A made-up invocation is no boundary of a
strict fork, and a made-up address leads into no public network. Nobody shares a
session with themselves. A search of messages needs a word. The end-to-end tests cover all of these; here they would only
hide other faults. Values generated to be invalid are sent as they are.
"""

import itertools

import schemathesis

MAX_KEY = 255
uses = itertools.count(1)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Reads the extensions of the contract, which code generators do not know."""
    for link in links(raw_schema):
        if "x-request-body" in link:
            link["requestBody"] = link.pop("x-request-body")
    for schema in raw_schema["components"]["schemas"].values():
        if schema.get("x-unchecked"):
            # The server accepts and returns members of any type.
            schema.pop("properties")


def links(raw_schema):
    for path in raw_schema["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                for response in operation.get("responses", {}).values():
                    yield from response.get("links", {}).values()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes the values of a valid request mean something together."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.query:
        case.query.pop("cursor", None)
        if case.query.get("in") == "messages":
            case.query["q"] = "word"
        if "shared" in case.query:
            case.query.pop("user_id", None)  # whose they are is what is asked
    if case.headers:
        mend_headers(case.headers)
    if case.path_parameters:
        mend_path(case.path_parameters)
    if isinstance(case.body, dict):
        mend_body(case.body)


def mend_path(parameters):
    # The name of an artifact is no relative path.
    if parameters.get("name") in (".", "..", "user:", "user:.", "user:.."):
        parameters["name"] = "report.pdf"


def mend_headers(headers):
    if "Idempotency-Key" in headers:
        key = f"{next(uses)}-{headers['Idempotency-Key']}"
        headers["Idempotency-Key"] = key[:MAX_KEY].strip()
    if "If-Match" in headers:
        headers["If-Match"] = "*"


def mend_body(body):
    if "rewind_before_invocation_id" in body or "before" in body:
        body.pop("strict", None)
    for name in ("id", "task_id"):
        # An id with what looks like an escape is not escaped again in the paths of
        # the requests that follow.
        if isinstance(body.get(name), str):
            body[name] = body[name].replace("%", "_")
    if "access" in body and isinstance(body.get("user_id"), str):
        body["user_id"] = f"guest-{next(uses)}"
    if isinstance(body.get("token"), str):
        body["token"] = f"{next(uses)}-nobody-knows"
    if isinstance(body.get("url"), str):
        body["url"] = f"https://example.com/hooks/{next(uses)}"
    if isinstance(body.get("events"), list):
        mend_batch(body["events"])
    if isinstance(body.get("input"), list):
        mend_batch(body["input"])
    if isinstance(body.get("input"), (list, str)):
        body["agent"] = "demo"  # a made-up agent is not configured, the session's neither
    if isinstance(body.get("deltas"), list):
        mend_deltas(body)
    if isinstance(body.get("on"), dict):
        mend_trigger(body["on"])
    if isinstance(body.get("do"), dict):
        mend_action(body["do"])


def mend_trigger(trigger):
    # Feedback is told apart only where there is any, and what follows from a
    # deletion cannot happen in the same session.
    trigger["types"] = [t for t in trigger.get("types", []) if t != "session.deleted"] or ["run.*"]
    if not {"feedback.created", "feedback.*"} & set(trigger["types"]):
        trigger.pop("feedback_types", None)


def mend_action(action):
    # A made-up agent is not configured, and a made-up placeholder is none.
    action["agent"] = "default"
    if isinstance(action.get("input"), str):
        action["input"] = action["input"].replace("{", "(")


def mend_deltas(body):
    # A new item each time, whose first part begins.
    body["item_id"] = f"item-{next(uses)}"
    body.pop("offset", None)
    body.setdefault("author", "agent")
    body["deltas"] = body["deltas"][:1]
    for delta in body["deltas"]:
        if not isinstance(delta, dict):
            continue
        delta["part"] = 0
        if isinstance(delta.get("function_call"), dict):
            delta["function_call"].update(name="call", args_text="{}")


def mend_batch(events):
    seen = set()
    for event in events:
        if isinstance(event, dict) and isinstance(event.get("id"), str):
            # An id with a dot may name another invocation than its event's.
            event["id"] = event["id"].replace(".", "_")
        if not isinstance(event, dict) or not isinstance(event.get("id"), str):
            continue
        if event["id"] in seen:
            del event["id"]
        else:
            seen.add(event["id"])
