"""P8: the older tools' text, against splitting the same bytes and converting every word that is a number; and how the
time grows with the size, sound and damaged.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType

import pytest

from apps.parsers import bonnie1, bonniepp, dd, iozone
from apps.parsers.source_text import SourceText
from tests.benchmarks.figures import LONG, only_long, pairs, report
from tests.parsers.legacy_texts import (
    bonnie_text,
    bonniepp_text,
    damaged,
    dd_text,
    iozone_processes_text,
    iozone_text,
    plain_floats,
)

pytestmark = pytest.mark.benchmark
MIB = 1 << 20
RATIO, EXPONENT = 0.5, 1.05
LOOSE_RATIO, LOOSE_EXPONENT = 0.05, 1.5  # a shared machine may be at something else
SIZES = [MIB, 10 * MIB, 100 * MIB] if LONG else [MIB // 16, MIB // 4, MIB]
TEXTS: dict[str, tuple[ModuleType, Callable[[int], bytes]]] = {
    "Bonnie": (bonnie1, bonnie_text),
    "bonnie++ tables": (bonniepp, bonniepp_text),
    "bonnie++ CSV": (bonniepp, partial(bonniepp_text, with_tables=False)),
    "IOzone -a": (iozone, iozone_text),
    "IOzone -t": (iozone, iozone_processes_text),
    "dd": (dd, dd_text),
}


@pytest.fixture(autouse=True)
def small_heap() -> Iterator[None]:
    """What pytest and the product hold is left alone: going through it before every reading, of which each process has its own,
    leaves nothing of the reader in the processor's caches.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def of_size(text: Callable[[int], bytes], size: int) -> bytes:
    """About as many bytes."""
    return text(max(1, size * 64 // len(text(64))))


@contextmanager
def without_collector() -> Iterator[None]:
    """As the process that reads uploads does it: what a file gives is kept as a whole until it is written."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(call: Callable[[], object]) -> float:
    with without_collector():
        before = time.process_time()
        kept = call()
        spent = time.process_time() - before
    del kept  # what became of it is no part of reading
    return spent


def exponent(sizes: list[int], spent: list[float]) -> float:
    """The slope of time over size, both as logarithms."""
    return statistics.linear_regression([*map(math.log, sizes)], [*map(math.log, spent)]).slope


@pytest.mark.parametrize("name", TEXTS)
def test_legacy_text_is_read_half_as_fast_as_it_is_split(name: str) -> None:
    module, text = TEXTS[name]
    data = of_size(text, 2 * MIB if LONG else MIB // 4)
    assert module.parse(SourceText(data)).runs
    ratios, speeds = [], []
    for _ in range(pairs(11, 25)):
        floor = seconds(lambda: plain_floats(data))
        spent = seconds(lambda: module.parse(SourceText(data)))
        ratios.append(floor / spent)
        speeds.append(len(data) / 1e6 / spent)
    report("P8", f"{name}, parsed", speeds, "none", "MB/s")
    assert report("P8", f"{name}, speed ÷ plain split + float", ratios, f"≥ {RATIO:g}") > LOOSE_RATIO


@only_long
@pytest.mark.parametrize("is_damaged", [False, True], ids=["sound", "damaged"])
@pytest.mark.parametrize("name", TEXTS)
def test_time_grows_as_the_text_does(name: str, is_damaged: bool) -> None:
    module, text = TEXTS[name]
    spent, sizes = [], []
    for size in SIZES:
        data = damaged(of_size(text, size)) if is_damaged else of_size(text, size)
        sizes.append(len(data))
        spent.append(min(seconds(lambda: module.parse(SourceText(data))) for _ in range(pairs(3, 1))))  # noqa: B023
    kind = "damaged" if is_damaged else "sound"
    what = f"{name}, {kind}, exponent of {SIZES[0] >> 10:,} KiB to {SIZES[-1] >> 20:,} MiB"
    assert report("P8", what, [exponent(sizes, spent)], f"≤ {EXPONENT:g}", "") < LOOSE_EXPONENT
