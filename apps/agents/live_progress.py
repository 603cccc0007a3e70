"""What a chunk of fio's own output says about the run at this moment, published for open pages.

Points may be lost on the way; results are not.
"""

import time

from apps.core.pubsub import forget as forget_bell
from apps.core.pubsub import last_state, remember
from apps.runs.models import Attempt, Chunk, Run
from apps.runs.series.progress import ProgressPoint, last_points, latest_point, live, pack_point, unpack_point

KEEP, KEEP_S = 1000, 24 * 3600
SMALLEST_STEP = 0.01  # of the progress that lists show; the run's live page gets every point


def publish(attempt: Attempt, sequence: int, data: bytes) -> None:
    """Publish the difference between this chunk's newest fio document and the one before it, for open pages."""
    points = last_points(data)
    if not points:
        return
    previous = points[0] if len(points) == 2 else _find_previous(attempt, sequence)
    started = attempt.started_at.timestamp() if attempt.started_at else None
    message = live(previous, points[-1], started)
    state = pack_point(points[-1]) + sequence.to_bytes(8)
    remember(f"run:{attempt.run_id}", {**message, "n": sequence, "at": round(time.time(), 3)}, KEEP, KEEP_S, state)
    if message["progress"] - attempt.run.progress >= SMALLEST_STEP:
        Run.objects.filter(pk=attempt.run_id, progress__lt=message["progress"]).update(progress=message["progress"])


def _find_previous(attempt: Attempt, sequence: int) -> ProgressPoint | None:
    """Return the last progress point of the chunk before this one.

    It is taken from Redis where it is there, which spares the database 12 kB; else it is read from the chunk.
    """
    if not sequence:
        return None
    state = last_state(f"run:{attempt.run_id}")
    if state[-8:] == (sequence - 1).to_bytes(8) and (point := unpack_point(state[:-8])):
        return point
    chunks = Chunk.objects.filter(attempt=attempt, stream="result", sequence=sequence - 1).order_by()
    return latest_point(bytes(chunks.values_list("data", flat=True).first() or b""))


def forget(attempt: Attempt) -> None:
    """Forget the run's live points once its result is read in: from then on the page draws the stored series."""
    forget_bell(f"run:{attempt.run_id}")
