"""The fields of a saved run from what was parsed: when it is saved, and again when a better parser reads it."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from apps.parsers.core.models import ParsedRun
from apps.runs.states import State
from apps.uploads.file_reader import ReadRun
from apps.uploads.models import Upload, UploadedFile

_LONGEST = 200
_EARLIEST, _LATEST = 0.0, 4102444800.0  # 1970 to 2100: other times are a broken clock's, and are not kept


def spec_of(run: ParsedRun) -> dict[str, Any]:
    """Return the workload that the tool was run with, as `Workload.spec`."""
    return {"tool": run.tool[:40], **run.workload}


def state_of(reading: ReadRun) -> str:
    """Return the state of a parsed run: failed if it has a problem and no value, else finished."""
    has_failed = bool(reading.run.problem) and not reading.has_values
    return State.FAILED.value if has_failed else State.FINISHED.value


def labels_of(upload: Upload, file: UploadedFile, run: ParsedRun) -> dict[str, str]:
    """Return the labels of a run: those of the output, overridden by a person's labels of upload and file."""
    return {**told_by(run), **upload.labels, **file.labels}


def told_by(run: ParsedRun) -> dict[str, str]:
    """Return the labels that the output gives."""
    reported = {"machine": run.host, "path": run.target, "caption": run.caption, **run.labels}
    if run.is_transcribed:
        reported["transcribed"] = "yes"
    return {name[:60]: value[:_LONGEST] for name, value in reported.items() if value}


def numbers_of(runs: Sequence[ReadRun]) -> list[int]:
    """Return each run's number among the runs of its format in the file, which other formats do not change."""
    counted: Counter[str] = Counter()
    numbers = []
    for run in runs:
        numbers.append(counted[run.format])
        counted[run.format] += 1
    return numbers


def repetitions_of(runs: Sequence[tuple[ReadRun, str]]) -> list[int]:
    """Return the repetition of each run among runs of the same tool, host, target, points and workload (given by its digest)."""
    counted: Counter[Any] = Counter()
    repetitions = []
    for item, workload in runs:
        run = item.run
        points = frozenset(
            (s.operation, s.metric, s.file_size, s.block_size, s.threads, s.iodepth) for s in item.samples
        )
        key = (run.tool, run.host, run.target, run.caption, workload, points)
        counted[key] += 1
        repetitions.append(counted[key])
    return repetitions


def time_of(seconds: float | None) -> datetime | None:
    """Return the time for seconds since 1970, or None for the time of a broken clock."""
    if seconds is None or not _EARLIEST < seconds < _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)
