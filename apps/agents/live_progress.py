"""What a chunk of fio's own output says about the run now, published for open pages. Lossy by design; results are not."""

from apps.lib.bell import forget as forget_bell
from apps.lib.bell import remember
from apps.runs.attempts import Attempt, Chunk
from apps.runs.models import Run
from apps.runs.progress import last_points, live

KEEP, KEEP_S = 1000, 24 * 3600
SMALLEST_STEP = 0.01  # of the progress that lists show; the live page has every document


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


def forget(attempt: Attempt) -> None:
    """After the result is read in, the page draws from its series."""
    forget_bell(f"run:{attempt.run_id}")
