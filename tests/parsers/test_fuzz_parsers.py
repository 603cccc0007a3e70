"""Fuzzing of every parser, with Hypothesis and with Atheris.

The seconds are those of each parser and each of the two. Plain `bin/test` has a round of examples, for half a minute for
each of some forty parsers would be longer than all of it may take; `bin/test --long` has those 30 s (20 minutes on two
cores), and SPINDLE_FUZZ_SECONDS=600 gives ten minutes to each (six hours).
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from apps.parsers.core.registry import Format, formats
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import faults, layer_faults, timed, tried
from tests.parsers.hostile import BENDS, SLOWEST_S, bent
from tests.parsers.seeds import TEXTS, seeds, wrapped
from tests.sampling import IS_LONG, for_each

FORMATS = [one for one in formats() if not one.is_asked_for]  # those are fio logs, which are tried themselves
ROOT = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("SPINDLE_FUZZ_SECONDS", 30 if IS_LONG else 0))
EXAMPLES, ATHERIS_RUNS = 20, 200  # where no seconds are given
PARTS = 2
_WORDS = sorted({word.encode() for text in TEXTS.values() for word in text.split() if len(word) < 30})
_STRANGE = [b"", b"\0", b"nan", b"inf", b"1e999", b"-1", b"9" * 25, b"\xff", b"\r", b"\n", b"\t", b" " * 50, b"+++++", b"*****", b"\x1b[0m",
            "١".encode(), "²".encode(), "\u2028".encode(), b"0" * 5000, b"1,5", b"{", b"}", b'"', b"> ", b"# ", b":", b"/"]  # fmt: skip
_SPACE = st.sampled_from([b" ", b" ", b"\n", b"\t", b"  ", b""])
_PIECES = st.one_of(
    st.sampled_from(_WORDS),
    st.sampled_from(_STRANGE),
    st.integers().map(lambda n: b"%d" % n),
    st.floats().map(lambda n: str(n).encode()),
)


def check(one: Format, data: bytes) -> None:
    text = SourceText(data)
    assert text.lines is not None
    (parsed, score), seconds = timed(lambda: tried(one, text), SLOWEST_S)
    assert seconds < SLOWEST_S
    assert 0 <= score <= 1
    assert parsed is None or not faults(parsed, text)


def check_layers(data: bytes) -> None:
    text = SourceText(data)
    broken, seconds = timed(lambda: layer_faults(text), SLOWEST_S)
    assert seconds < SLOWEST_S
    assert not broken


@st.composite
def mutated(draw: st.DrawFn, texts: tuple[bytes, ...]) -> bytes:
    """One of the texts with some places replaced, doubled, left out or swapped, perhaps bent as a whole."""
    data = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 1, 2, 5, 20, 200])))
        kind = draw(st.sampled_from(["replace", "double", "cut", "line"]))
        if kind == "replace":
            data = data[:start] + draw(_PIECES) + data[end:]
        elif kind == "double":
            data = data[:end] + data[start:end] * draw(st.integers(1, 4)) + data[end:]
        elif kind == "cut":
            data = data[:start] + data[end:]
        else:
            other = draw(st.sampled_from(texts)).split(b"\n")
            data = data[:start] + b"\n" + draw(st.sampled_from(other)) + b"\n" + data[start:]
    return bent(data, draw(st.sampled_from(BENDS))) if draw(st.integers(0, 9)) == 0 else data


def inputs(texts: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    words = st.lists(st.tuples(_PIECES, _SPACE), max_size=60).map(lambda pairs: b"".join(a + b for a, b in pairs))
    return st.one_of(mutated(texts), mutated(texts), mutated(texts), words, st.binary(max_size=400))


@pytest.mark.slow
@for_each("one", FORMATS)
def test_nothing_that_hypothesis_makes_breaks_a_parser(one: Format) -> None:
    fuzz(seeds(one) or (b"nothing\n",), lambda data: check(one, data))


def test_nothing_that_hypothesis_makes_breaks_a_layer_around_an_output() -> None:
    fuzz(wrapped(), check_layers)


def fuzz(texts: tuple[bytes, ...], attempt: Callable[[bytes], None]) -> None:
    end, seed = time.monotonic() + SECONDS, 0
    rules = settings(
        max_examples=60 if SECONDS else EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    while not seed or time.monotonic() < end:
        from hypothesis import seed as seeded

        seeded(seed)(rules(given(inputs(texts))(attempt)))()
        seed += 1


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_nothing_that_atheris_makes_breaks_a_parser(part: int) -> None:
    seconds = SECONDS * len(FORMATS) / PARTS
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.atheris_parsers",
        *(["--seconds", str(seconds)] if seconds else ["--runs", str(ATHERIS_RUNS)]),
        "--part",
        f"{part}/{PARTS}",
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=seconds * 3 + 300
    )
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    assert "failed: none" in done.stdout
