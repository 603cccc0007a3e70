"""C3: the older tools' text, against splitting the same bytes and converting every word that is a number; and how the
time grows with the size, sound and damaged.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from types import ModuleType

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.iozone import format as iozone_format
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
from tests.sampling import for_each

pytestmark = pytest.mark.benchmark
MIB = 1 << 20
SPEED, EXPONENT = 5, 1.1  # MB/s of a core
LOOSE_SPEED, LOOSE_EXPONENT = 0.5, 1.5  # a shared machine may be at something else
SIZES = [MIB, 10 * MIB, 100 * MIB] if LONG else [MIB // 16, MIB // 4, MIB]
TEXTS: dict[str, tuple[ModuleType, Callable[[int], bytes]]] = {
    "Bonnie": (bonnie_format, bonnie_text),
    "bonnie++ tables": (bonniepp_format, bonniepp_text),
    "bonnie++ CSV": (bonniepp_format, partial(bonniepp_text, with_tables=False)),
    "IOzone -a": (iozone_format, iozone_text),
    "IOzone -t": (iozone_format, iozone_processes_text),
    "dd": (dd_format, dd_text),
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
def test_c3_legacy_text_is_read_quickly(name: str) -> None:
    module, text = TEXTS[name]
    data = of_size(text, 2 * MIB if LONG else MIB // 4)
    assert module.parse(SourceText(data)).runs
    ratios, speeds = [], []
    for _ in range(pairs(11, 25)):
        floor = seconds(lambda: plain_floats(data))
        spent = seconds(lambda: module.parse(SourceText(data)))
        ratios.append(floor / spent)
        speeds.append(len(data) / 1e6 / spent)
    report("C3", f"{name}, speed ÷ plain split + float", ratios, "none; for comparison")
    assert report("C3", f"{name}, parsed", speeds, f"≥ {SPEED}", "MB/s of a core") > LOOSE_SPEED


@only_long
@for_each("is_damaged, name", product([False, True], TEXTS))
def test_c3_time_grows_as_the_text_does(name: str, is_damaged: bool) -> None:
    module, text = TEXTS[name]
    spent, sizes = [], []
    for size in SIZES:
        data = damaged(of_size(text, size)) if is_damaged else of_size(text, size)
        sizes.append(len(data))
        spent.append(min(seconds(lambda: module.parse(SourceText(data))) for _ in range(pairs(3, 1))))  # noqa: B023
    kind = "damaged" if is_damaged else "sound"
    what = f"{name}, {kind}, exponent of {SIZES[0] >> 10:,} KiB to {SIZES[-1] >> 20:,} MiB"
    assert report("C3", what, [exponent(sizes, spent)], f"≤ {EXPONENT:g}", "") < LOOSE_EXPONENT
