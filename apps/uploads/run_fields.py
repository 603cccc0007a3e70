"""What was read of a run, as the columns of its row say it: when it is kept, and again when a better parser reads it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from apps.parsers.shape import ParsedRun
from apps.runs.states import State
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.reading import ReadRun

_LONGEST = 200


def spec_of(run: ParsedRun) -> dict[str, Any]:
    """The workload: what the tool was asked to do."""
    return {"tool": run.tool[:40], **run.workload}


def state_of(one: ReadRun) -> str:
    """Failed is what has a problem and no value."""
    has_failed = bool(one.run.problem) and not one.has_values
    return State.FAILED.value if has_failed else State.FINISHED.value


def labels_of(upload: Upload, file: UploadedFile, run: ParsedRun) -> dict[str, str]:
    """A person's labels win over what the text says."""
    return {**told_by(run), **upload.labels, **file.labels}


def told_by(run: ParsedRun) -> dict[str, str]:
    """The labels that the text gives."""
    told = {"machine": run.host, "path": run.target, "caption": run.caption, **run.labels}
    if run.is_transcribed:
        told["transcribed"] = "yes"
    return {name[:60]: value[:_LONGEST] for name, value in told.items() if value}


def numbers_of(runs: Sequence[ReadRun]) -> list[int]:
    """Of each run of a file among its format's: that stays the same, whatever other formats learn."""
    counted: Counter[str] = Counter()
    numbers = []
    for one in runs:
        numbers.append(counted[one.format])
        counted[one.format] += 1
    return numbers


def repetitions_of(runs: Sequence[tuple[ReadRun, str]]) -> list[int]:
    """The how-manieth of its kind each run of a file is: same tool, words, points and workload, whose digest comes along."""
    counted: Counter[Any] = Counter()
    repetitions = []
    for one, workload in runs:
        run = one.run
        points = frozenset(
            (s.operation, s.metric, s.file_size, s.block_size, s.threads, s.iodepth) for s in one.samples
        )
        key = (run.tool, run.host, run.target, run.caption, workload, points)
        counted[key] += 1
        repetitions.append(counted[key])
    return repetitions
