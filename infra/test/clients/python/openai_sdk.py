"""A story with OpenAI's SDK, whose Responses client talks to Rethread's agents."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import Callable
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI
from openai.types.responses import Response
from pydantic import BaseModel

from checks import URL, check, end, new_user, part, token

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64," + base64.b64encode(b"%PDF-1.1").decode()
WEATHER: Any = {
    "type": "function", "name": "get_weather", "description": "The weather at a place", "strict": True,
    "parameters": {
        "type": "object", "properties": {"location": {"type": "string"}},
        "required": ["location"], "additionalProperties": False,
    },
}  # fmt: skip
LIMIT = 20  # streams of one user


def signed_in(**more: Any) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=URL + "/v1", api_key=token(new_user()), **more)


class Story:
    def __init__(self, model: str) -> None:
        self.model, self.client = model, signed_in()

    def check(self, what: str, passed: bool, *shown: Any) -> None:
        check(f"{self.model}: {what}", passed, *shown)

    async def play(self) -> None:
        for name in dir(self):
            if name.startswith("part_"):
                await part(f"{self.model}: {name}", getattr(self, name))

    async def say(self, said: Any, **more: Any) -> Response:
        made: Response = await self.client.responses.create(model=self.model, input=said, **more)
        return made

    async def asked(self, said: Any, **more: Any) -> dict[str, Any]:
        """What the model was asked, which it reports."""
        made = await self.say(said, **more)
        found: dict[str, Any] = json.loads(made.output_text)
        return found

    async def part_answer(self) -> None:
        r = await self.say("hello there")
        self.check("an answer", r.output_text == "You said: hello there", r)
        self.check("its status", r.status == "completed" and r.error is None and r.incomplete_details is None, r)
        self.check("its model", r.model == self.model, r.model)
        self.check("its item", [i.type for i in r.output] == ["message"] and r.output[0].status == "completed", r.output)  # type: ignore[union-attr]
        self.check("its id", r.id.startswith("resp_") and r.object == "response", r.id)
        u = r.usage
        self.check("its tokens", u is not None and (u.input_tokens, u.output_tokens, u.total_tokens) == (11, 7, 18), u)
        self.check("tokens in detail", u is not None and (u.input_tokens_details.cached_tokens, u.output_tokens_details.reasoning_tokens) == (3, 2), u)
        again = await self.client.responses.retrieve(r.id)
        self.check("the same when retrieved", again.to_dict() == r.to_dict(), again, r)
        items = await self.client.responses.input_items.list(r.id)
        self.check("its input", [(i.type, i.role, i.content[0].text) for i in items.data] == [("message", "user", "hello there")], items)  # type: ignore[union-attr]

    async def part_what_the_model_gets(self) -> None:
        got = await self.asked(
            [
                {"role": "system", "content": "Speak like a pirate."},
                {"role": "user", "content": "My name is Alice."},
                {"role": "assistant", "content": "Hello Alice!"},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "report"},
                    {"type": "input_image", "image_url": PNG, "detail": "auto"},
                    {"type": "input_image", "image_url": "https://example.com/dot.png", "detail": "auto"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": PDF},
                ]},
            ],
            instructions="Be short.", tools=[WEATHER], tool_choice="auto", parallel_tool_calls=False, temperature=0.5, top_p=0.9,
            max_output_tokens=500, reasoning={"effort": "low"},
        )  # fmt: skip
        system = "\n".join(got["system"])
        self.check("all instructions", all(s in system for s in ("You are scripted.", "Be short.", "Speak like a pirate.")), got)
        self.check("the configured instructions first", system.startswith("You are scripted."), system)
        said = [(t["role"], t["text"]) for t in got["turns"]]
        self.check("the history", said == [("user", "My name is Alice."), ("assistant", "Hello Alice!"), ("user", "report")], said)
        self.check("images and a file", got["turns"][-1].get("files") == [PNG, "https://example.com/dot.png", "a.pdf " + PDF[:40]], got["turns"])
        self.check("tools, after the configured one", got["tools"] == ["configured", "get_weather"], got["tools"])
        more = got["more"]
        self.check("parameters", (more["temperature"], more["top_p"], more["parallel_tool_calls"]) == (0.5, 0.9, False), more)
        limit, effort = more.get("max_completion_tokens", more.get("max_output_tokens")), more.get("reasoning_effort", more.get("reasoning"))
        self.check("parameters by their names", limit == 500 and effort in ("low", {"effort": "low"}), more)

    async def part_instructions_of_one_run(self) -> None:
        first = await self.say([{"role": "developer", "content": "Speak Latin."}, {"role": "user", "content": "hello"}], instructions="Be short.")
        got = await self.asked("report", previous_response_id=first.id)
        system = "\n".join(got["system"])
        self.check("messages with instructions stay", "Speak Latin." in system, system)
        self.check("instructions are for one response", "Be short." not in system, system)

    async def part_stream(self) -> None:
        stream = await self.say("hello again", stream=True)
        events = [e async for e in stream]  # type: ignore[attr-defined]
        kinds = [e.type for e in events]
        self.check("the beginning", kinds[:2] == ["response.created", "response.in_progress"], kinds)
        middle = [k for k in dict.fromkeys(kinds[2:])]
        self.check("the events of a message", middle == [
            "response.output_item.added", "response.content_part.added", "response.output_text.delta", "response.output_text.done",
            "response.content_part.done", "response.output_item.done", "response.completed",
        ], middle)  # fmt: skip
        numbers = [e.sequence_number for e in events]
        self.check("numbers that increase", numbers == sorted(set(numbers)), numbers)
        text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        self.check("the deltas are the text", text == "You said: hello again", text)
        whole = events[-1].response
        self.check("the whole response", (await self.client.responses.retrieve(whole.id)).to_dict() == whole.to_dict(), whole)

    async def part_thoughts(self) -> None:
        r = await self.say("think")
        self.check("thoughts before the text", [i.type for i in r.output] == ["reasoning", "message"] and r.output_text == "Yes.", r.output)
        self.check("their text", "Hm." in str(r.output[0].to_dict()), r.output[0])

    async def part_refusal_and_limit(self) -> None:
        r = await self.say("decline")
        self.check("a refusal", "I cannot help with that." in str(r.to_dict()), r.output)
        r = await self.say("short")
        reason = r.incomplete_details.reason if r.incomplete_details else None
        self.check("an incomplete answer", (r.status, reason) == ("incomplete", "max_output_tokens"), r)

    async def part_helper(self) -> None:
        async with self.client.responses.stream(model=self.model, input="What is the weather?", tools=[WEATHER]) as stream:
            kinds = [e.type async for e in stream]
            r = await stream.get_final_response()
        self.check("the helper: events of a call", {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= set(kinds), kinds)
        call = r.output[-1]
        self.check("the helper: the call", call.type == "function_call" and call.name == "get_weather", r.output)
        self.check("the helper: its arguments", call.type == "function_call" and json.loads(call.arguments) == {"location": "San Francisco, CA"}, call)

    async def part_tools(self) -> None:
        said: list[Any] = [{"role": "user", "content": "What is the weather, and say so?"}]
        first = await self.say(said, tools=[WEATHER])
        self.check("a text and a call", [i.type for i in first.output] == ["message", "function_call"], first.output)
        call: Any = first.output[-1]
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "64 degrees"}
        by_id = await self.say([output], tools=[WEATHER], previous_response_id=first.id)
        self.check("the result reaches the model", by_id.output_text.startswith("The tool said: ") and "64 degrees" in by_id.output_text, by_id.output_text)
        without = await self.say([*said, *(i.to_dict() for i in first.output), output], tools=[WEATHER])
        self.check("a client that keeps the history itself", without.output_text == by_id.output_text, without.output_text)
        all_calls = await self.say("use all", tools=[WEATHER, {**WEATHER, "name": "get_time"}])
        calls: list[Any] = [i for i in all_calls.output if i.type == "function_call"]
        self.check("several calls", [c.name for c in calls] == ["configured", "get_weather", "get_time"], all_calls.output)
        outputs: Any = [{"type": "function_call_output", "call_id": c.call_id, "output": c.name} for c in calls]
        got = await self.asked([*outputs, {"role": "user", "content": "report"}], previous_response_id=all_calls.id)
        results = [t["text"] for t in got["turns"] if t["role"] == "result"]
        self.check("several results", len(results) == 3 and all(c.name in r for c, r in zip(calls, results, strict=True)), got["turns"])
        forced = await self.say("hello", tools=[WEATHER], tool_choice={"type": "function", "name": "get_weather"})
        self.check("a forced call", [i.type for i in forced.output] == ["function_call"], forced.output)
        free = await self.say("What is the weather?", tools=[WEATHER], tool_choice="none")
        self.check("no call", [i.type for i in free.output] == ["message"], free.output)

    async def part_structured(self) -> None:
        class Weather(BaseModel):
            city: str
            degrees: int

        r = await self.client.responses.parse(model=self.model, input="structured", text_format=Weather)
        self.check("a parsed answer", r.output_parsed == Weather(city="Paris", degrees=21), r.output)

    async def part_turns(self) -> None:
        one = await self.say("code papaya")
        two = await self.say("recall code", previous_response_id=one.id)
        self.check("the history", two.output_text == "papaya", two.output_text)
        self.check("the one before", two.previous_response_id == one.id, two.previous_response_id)
        three = await self.say("color red", previous_response_id=two.id)
        branch = await self.say("color blue", previous_response_id=two.id)
        a, b = await asyncio.gather(
            self.say("recall color", previous_response_id=three.id), self.say("recall color", previous_response_id=branch.id)
        )
        self.check("branches", (a.output_text, b.output_text) == ("red", "blue"), a.output_text, b.output_text)
        self.check("the branch has the history", (await self.say("recall code", previous_response_id=b.id)).output_text == "papaya")
        for r in (one, two, three, branch, a, b):
            self.check("every response stays", (await self.client.responses.retrieve(r.id)).output_text == r.output_text, r)

    async def part_divergence(self) -> None:
        one = await self.say("code papaya")
        two = await self.say("code mango", previous_response_id=one.id)
        await self.fails("reject", openai.ConflictError, lambda: self.say(
            "recall code", previous_response_id=one.id, extra_body={"rethread": {"on_divergence": "reject"}},
        ))  # fmt: skip
        edited = await self.say("report", previous_response_id=one.id, extra_body={"rethread": {"on_divergence": "rewind"}})
        turns = [t["text"] for t in json.loads(edited.output_text)["turns"]]
        self.check("a rewind leaves the second question out", turns == ["code papaya", "You said: code papaya", "report"], turns)
        both = await asyncio.gather(*(self.say(f"color {c}", previous_response_id=edited.id) for c in ("red", "blue")))
        told = await asyncio.gather(*(self.say("recall color", previous_response_id=r.id) for r in both))
        self.check("two at the same instant", [r.output_text for r in told] == ["red", "blue"], told, two.id)

    async def part_conversation(self) -> None:
        c = await self.client.conversations.create()
        first = await self.say("code papaya", conversation=c.id)
        self.check("a response of a conversation", first.conversation is not None and first.conversation.id == c.id, first.conversation)
        second = await self.say("recall code", conversation=c.id)
        self.check("it remembers", second.output_text == "papaya", second.output_text)
        items = [i async for i in self.client.conversations.items.list(c.id, order="asc", limit=1)]
        said = [(i.role, i.content[0].text) for i in items if i.type == "message"]  # type: ignore[union-attr]
        self.check("its items", said == [
            ("user", "code papaya"), ("assistant", "You said: code papaya"), ("user", "recall code"), ("assistant", "papaya"),
        ], said)  # fmt: skip
        one = await self.client.conversations.items.retrieve(items[1].id or "", conversation_id=c.id)
        self.check("an item", one.to_dict() == items[1].to_dict(), one)
        self.check("the conversation", (await self.client.conversations.retrieve(c.id)).id == c.id)
        await self.client.conversations.delete(c.id)
        await self.fails("a deleted one", openai.NotFoundError, lambda: self.client.conversations.retrieve(c.id))

    async def part_background(self) -> None:
        r = await self.say("hello", background=True)
        self.check("it is under way", r.status in ("queued", "in_progress") and r.background is True, r)
        r = await self.until(r.id, lambda r: r.status not in ("queued", "in_progress"))
        self.check("it is done", r.status == "completed" and r.output_text == "You said: hello", r)
        r = await self.say("endless", background=True)
        await self.until(r.id, lambda r: "word" in r.output_text)
        stopped = await self.client.responses.cancel(r.id)
        self.check("cancelled", stopped.status == "cancelled", stopped.status)
        again = await self.client.responses.cancel(r.id)
        self.check("cancelled again", again.status == "cancelled", again.status)
        r = await self.client.responses.retrieve(r.id)
        self.check("it stays so", r.status == "cancelled" and "word" in r.output_text, r.status)
        after = await self.say("hello", previous_response_id=r.id)
        self.check("after a cancelled predecessor, which stays", after.status == "completed", after)
        self.check("it names the predecessor", after.previous_response_id == r.id, after.previous_response_id)

    async def part_a_busy_conversation(self) -> None:
        hurried, c = self.client.with_options(max_retries=0), await self.client.conversations.create()

        async def ask(text: str, **more: Any) -> Response:
            made: Response = await hurried.responses.create(model=self.model, input=text, conversation=c.id, **more)
            return made

        running = await ask("endless", background=True)
        await self.fails("busy", openai.ConflictError, lambda: ask("hello"), code="conversation_busy")
        merged = await ask("report", extra_body={"rethread": {"on_active": "cancel_and_merge"}})
        said = [t["text"] for t in json.loads(merged.output_text)["turns"] if t["role"] == "user"]
        self.check("merged", said == ["endless", "report"], said)
        stopped = await self.client.responses.retrieve(running.id)
        self.check("the one before is cancelled", stopped.status == "cancelled", stopped.status)
        running = await ask("endless", background=True)
        queued = await ask("hello", background=True, extra_body={"rethread": {"on_active": "enqueue"}})
        self.check("queued", queued.status == "queued", queued.status)
        await self.client.responses.cancel(running.id)
        done = await self.until(queued.id, lambda r: r.status not in ("queued", "in_progress"))
        self.check("its turn", (done.status, done.output_text) == ("completed", "You said: hello"), done)

    async def until(self, response: str, ready: Callable[[Response], bool]) -> Response:
        for _ in range(600):
            r: Response = await self.client.responses.retrieve(response)
            if ready(r):
                return r
            await asyncio.sleep(0.05)
        raise TimeoutError(f"{response}: {r}")

    async def part_a_stream_that_is_cut(self) -> None:
        stream = await self.say("long", background=True, stream=True)
        seen: list[Any] = []
        async for e in stream:  # type: ignore[attr-defined]
            seen.append(e)
            if len(seen) == 5:
                break
        await stream.close()  # type: ignore[attr-defined]
        response, cuts = seen[0].response.id, 0
        while seen[-1].type != "response.completed":
            stream = await self.client.responses.retrieve(response, stream=True, starting_after=seen[-1].sequence_number)
            mine = 0
            async for e in stream:
                seen.append(e)
                mine += 1
                if mine == 3:
                    break
            await stream.close()
            cuts += 1
            if mine == 0 or cuts > 100:
                break
        numbers = [e.sequence_number for e in seen]
        self.check("a cut stream: numbers", numbers == sorted(set(numbers)) and cuts > 1, numbers, cuts)
        text = "".join(e.delta for e in seen if e.type == "response.output_text.delta")
        final = await self.client.responses.retrieve(response)
        self.check("a cut stream: the text", text == final.output_text == "more " * 60, text)
        whole = [e async for e in await self.client.responses.retrieve(response, stream=True)]
        self.check("the whole stream again", "".join(e.delta for e in whole if e.type == "response.output_text.delta") == text, len(whole))
        late = [e async for e in await self.client.responses.retrieve(response, stream=True, starting_after=whole[-1].sequence_number)]
        self.check("nothing after the last event", late == [], late)

    async def fails(self, what: str, of: type[openai.APIStatusError], call: Callable[[], Any], **expected: Any) -> None:
        try:
            got = await call()
        except of as error:
            for name, value in expected.items():
                self.check(f"{what}: {name}", getattr(error, name) == value, name, getattr(error, name), error.body)
            self.check(f"{what}: a message", bool(error.message), error.body)
        except Exception as other:
            self.check(what, False, type(other), other)
        else:
            self.check(what, False, "no error, but", got)

    async def part_errors(self) -> None:
        create = self.client.responses.create
        m = self.model
        await self.fails("an unknown model", openai.NotFoundError, lambda: create(model="nobody", input="x"), code="model_not_found", param="model")
        await self.fails("store", openai.BadRequestError, lambda: create(model=m, input="x", store=False), param="store")
        await self.fails("a hosted tool", openai.BadRequestError, lambda: create(model=m, input="x", tools=[{"type": "web_search"}]), param="tools[0].type")
        await self.fails("a number of a wrong type", openai.BadRequestError, lambda: create(model=m, input="x", temperature="hot"), param="temperature")  # type: ignore[arg-type]
        await self.fails("an output without a call", openai.BadRequestError, lambda: create(model=m, input=[{"type": "function_call_output", "call_id": "c", "output": "x"}]))
        await self.fails("an unknown response", openai.NotFoundError, lambda: self.client.responses.retrieve("resp_unknown"))
        await self.fails("an unknown predecessor", openai.BadRequestError, lambda: create(model=m, input="x", previous_response_id="resp_unknown"), code="previous_response_not_found", param="previous_response_id")
        mine, other = await self.say("x"), signed_in()
        await self.fails("a foreign response", openai.NotFoundError, lambda: other.responses.retrieve(mine.id))
        await self.fails("a foreign predecessor", openai.BadRequestError, lambda: other.responses.create(model=m, input="x", previous_response_id=mine.id))
        await self.fails("no token", openai.AuthenticationError, lambda: AsyncOpenAI(base_url=URL + "/v1", api_key="x").responses.create(model=m, input="x"))
        failed = await self.say("overflow")
        code = failed.error.code if failed.error else None
        self.check("a failed run", failed.status == "failed" and code is not None, failed.status, failed.error)
        kinds = [e.type async for e in await create(model=m, input="overflow", stream=True)]
        self.check("a failed stream", kinds[-1] == "response.failed", kinds)

    async def part_a_lost_answer(self) -> None:
        class Losing(httpx2.AsyncHTTPTransport):
            sent = 0

            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                answer = await super().handle_async_request(request)
                Losing.sent += 1
                if Losing.sent == 1:
                    await answer.aclose()
                    raise httpx2.ReadError("the answer was lost", request=request)
                return answer

        client = self.client.copy(http_client=httpx2.AsyncClient(transport=Losing()))
        c = await self.client.conversations.create()
        key = {"Idempotency-Key": str(uuid.uuid4())}
        r = await client.responses.create(model=self.model, input="hello", conversation=c.id, extra_headers=key)
        items = [i async for i in self.client.conversations.items.list(c.id)]
        self.check("a lost answer: sent twice, done once", (Losing.sent, len(items), r.output_text) == (2, 2, "You said: hello"), Losing.sent, items)
        same = {"Idempotency-Key": str(uuid.uuid4())}
        together = await asyncio.gather(*(self.say("hello", extra_headers=same) for _ in range(5)))
        self.check("one key at the same instant", len({r.id for r in together}) == 1, [r.id for r in together])
        await self.fails("the key with another request", openai.APIStatusError, lambda: client.responses.create(model=self.model, input="other", conversation=c.id, extra_headers=key))

    async def part_too_many_streams(self) -> None:
        client = signed_in(max_retries=0)
        first = await client.responses.create(model=self.model, input="endless", background=True)
        streams = [await client.responses.retrieve(first.id, stream=True) for _ in range(LIMIT)]
        await self.fails("too many streams", openai.RateLimitError, lambda: client.responses.retrieve(first.id, stream=True))
        await client.responses.cancel(first.id)
        ends = [[e.type async for e in s][-1] for s in streams]
        self.check("all of them end", len(set(ends)) == 1, ends)

    async def part_models(self) -> None:
        names = [m.id async for m in await self.client.models.list()]
        self.check("the models", self.model in names and "scripted" in names, names)
        self.check("a model", (await self.client.models.retrieve(self.model)).id == self.model)


async def others() -> None:
    """What agents that are no models do with parameters that they cannot obey."""
    client = signed_in()
    r = await client.responses.create(model="scripted", input="hello")
    check("an agent of another type", r.output_text == 'You said: "hello". That is all.', r.output_text)
    for name, sent in {"tools": [WEATHER], "text": {"format": {"type": "json_object"}}}.items():
        try:
            await client.responses.create(model="scripted", input="hello", extra_body={name: sent})
        except openai.BadRequestError as error:
            check(f"{name}: refused by name", str(error.param).startswith(name), error.body)
        else:
            check(f"{name}: refused", False)


async def main() -> None:
    await asyncio.gather(*(Story(m).play() for m in ("model-chat", "model-responses")), part("others", others))
    end()


asyncio.run(main())
