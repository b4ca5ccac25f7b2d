"""What is stored of values that the API cannot store, and the ids of sessions with any name."""

from __future__ import annotations

import json

import pytest

from rethread_client._core.storable import escaped, session_id_of, storable, text, unescaped

NAMES = ["a", "a b", "50%", "%", "thread", "Grüße", "a%2", "a.b", "..."]
ESCAPED = [
    "a/b", "a%2Fb", "a%252Fb", "a?b", "a\nb", "%2f", "%FF", "", ".", "..", "x" * 129, "/" * 43, "a\ud83d",
    "thread%-x", "thread%-" + "0" * 64,
]  # fmt: skip


def test_a_name_that_can_be_an_id_is_one() -> None:
    for name in NAMES:
        assert session_id_of(name) == name
    assert len(NAMES) == 9


def test_other_names_have_ids_of_their_own() -> None:
    ids = [session_id_of(name) for name in NAMES + ESCAPED]
    assert len(set(ids)) == len(ids) == 24
    for name in ESCAPED:
        made = session_id_of(name)
        assert made != name
        assert 0 < len(made) <= 128
        assert not set("/?\n") & set(made)
        assert unescaped(escaped(name)) in (None, name)


def test_a_value_becomes_json() -> None:
    numbers = [float("nan"), float("inf"), float("-inf"), 1.5, True, None, 1 << 70]
    stored = storable({"a\udc00": ("x\ud800y", "\ud83d\ude42", "plain"), "n": numbers})
    assert stored == {
        "a\ufffd": ["x\ufffdy", "🙂", "plain"],
        "n": ["NaN", "Infinity", "-Infinity", 1.5, True, None, 1 << 70],
    }
    assert json.dumps(stored, ensure_ascii=False, allow_nan=False).encode()
    assert [float(number) for number in stored["n"][1:3]] == numbers[1:3]


@pytest.mark.parametrize("given", ["", "x", "🙂", "ÿ\uffff"])
def test_a_whole_text_stays(given: str) -> None:
    assert text(given) is given
