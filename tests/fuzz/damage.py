"""Ways to damage values and files, for every boundary."""

from __future__ import annotations

import math

from hypothesis import settings
from hypothesis import strategies as st

from chronoforest.errors import ChronoForestError


def cases(count):
    """The same `count` cases at every run."""
    return settings(max_examples=count, derandomize=True, deadline=None, database=None)


numbers = st.one_of(
    st.integers(-3, 30),
    st.integers(),
    st.floats(),
    st.sampled_from([0.0, -1.0, 1e-300, 1e300, math.nan, math.inf, -math.inf, 10**400, 2**63]),
)
odd = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    st.text(max_size=5),
    st.lists(numbers, max_size=3),
    st.just({}),
    st.just([[[]]]),
)
"""Values that may stand where another one should."""


def places(value, path=()):
    """The ways to every value within nested mappings and lists."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


DELETED, REPEATED = object(), object()


def changed(value, path, new):
    """A copy with something else at a place, or with what is there gone or repeated."""
    if not path:
        return [value, value] if new is REPEATED else new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new is DELETED and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@st.composite
def mutated(draw, value, ways):
    """A value with one or two of its parts replaced, deleted or repeated."""
    first = draw(st.sampled_from(ways[1:]))
    value = changed(value, first, draw(st.one_of(odd, st.sampled_from([DELETED, REPEATED]))))
    if draw(st.booleans()):
        value = changed(value, draw(st.sampled_from(list(places(value)))), draw(odd))
    return value


@st.composite
def damaged_bytes(draw, content):
    """A file's content cut off, with bytes flipped, doubled in the middle, or something else altogether."""
    content = bytearray(content)
    kind = draw(st.sampled_from(["flip", "flip", "flip", "cut", "double", "other"]))
    if kind == "other":
        return draw(st.binary(max_size=200))
    at = draw(st.integers(0, len(content) - 1))
    if kind == "cut":
        return bytes(content[:at])
    if kind == "double":
        return bytes(content[:at] + content)
    for _ in range(draw(st.integers(1, 4))):
        near_an_end = draw(st.booleans())
        spot = draw(st.integers(0, min(400, len(content) - 1))) if near_an_end else at
        content[spot] = draw(st.integers(0, 255))
        at = draw(st.integers(0, len(content) - 1))
    return bytes(content)


def ends_well(action, *args):
    """The result, or None after an error that was explained; anything else fails the test."""
    try:
        return action(*args)
    except ChronoForestError as error:
        sentence = str(error)
    assert sentence
    assert "\n" not in sentence
    return None
