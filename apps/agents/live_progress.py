"""What a chunk of fio's own output says about the run now, published for open pages. Lossy by design; results are not."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

import orjson

from apps.agents.outbox import Outbox
from apps.lib.bell import forget as forget_bell
from apps.lib.bell import remember
from apps.lib.listening import listener
from apps.runs.attempts import Attempt, Chunk
from apps.runs.models import Run
from apps.runs.progress import ProgressPoint, last_points, live

KEEP, KEEP_S = 1000, 24 * 3600
SMALLEST_STEP = 0.01  # of the progress that lists show; the live page has every document
MOST = 1000  # attempts whose last document is remembered here


def publish(attempt: Attempt, sequence: int, data: bytes) -> None:
    """Difference this chunk's newest document with the one before, and ring."""
    before = b""
    if sequence:
        previous = Chunk.objects.filter(attempt=attempt, stream="result", sequence=sequence - 1)
        before = bytes(previous.values_list("data", flat=True).first() or b"")
    points = last_points(data, before)
    if not points:
        return
    started = attempt.started_at.timestamp() if attempt.started_at else None
    message = live(points[0] if len(points) == 2 else None, points[-1], started)
    remember(f"run:{attempt.run_id}", {**message, "n": sequence}, KEEP, KEEP_S)
    if message["progress"] - attempt.run.progress >= SMALLEST_STEP:
        Run.objects.filter(pk=attempt.run_id, progress__lt=message["progress"]).update(progress=message["progress"])


@dataclass
class Last:
    """The newest document of an attempt up to this chunk, and the progress that lists show."""

    sequence: int
    point: ProgressPoint | None
    shown: float = -1.0


_last: OrderedDict[int, Last] = OrderedDict()  # by attempt; the one that was heard of last is at the end
outbox = Outbox(KEEP, KEEP_S)


def knows(attempt: int, sequence: int) -> bool:
    """Whether the chunk before this one came through here."""
    return attempt in _last and _last[attempt].sequence == sequence - 1


def learn(attempt: int, sequence: int, data: bytes) -> None:
    """The chunk before, where it did not."""
    points = last_points(data)
    _last[attempt] = Last(sequence, points[-1] if points else None)


def publish_here(attempt: int, sequence: int, data: bytes, run: int, started: datetime | None) -> None:
    """`publish` in the event loop: pages of this process hear it at once, everybody else as soon as Redis does."""
    last = _last.pop(attempt, None) or Last(-1, None)
    _last[attempt] = last
    if len(_last) > MOST:
        _last.popitem(last=False)
    points = [*([last.point] if last.point else []), *last_points(data)]
    is_new, last.sequence = len(points) > bool(last.point), sequence
    if not is_new:
        return
    message = live(points[-2] if len(points) > 1 else None, points[-1], started.timestamp() if started else None)
    last.point = points[-1]
    raw = orjson.dumps({**message, "n": sequence})
    listener.spread(f"run:{run}", raw)
    is_step = message["progress"] - last.shown >= SMALLEST_STEP
    last.shown = message["progress"] if is_step else last.shown
    outbox.put(run, raw, message["progress"] if is_step else None)


def forget(attempt: Attempt) -> None:
    """After the result is read in, the page draws from its series."""
    forget_bell(f"run:{attempt.run_id}")
