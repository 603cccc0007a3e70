"""A plan as somebody asks for it: a preset with its values, and the targets it runs on. From the form and from REST."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.quantities import spell_size
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.plans.presets import BY_NAME
from apps.plans.presets.preset import PlanPointData, Preset, PresetOptions
from apps.plans.value_lists import FileSize, ValueListError, parse_file_sizes, parse_numbers, parse_sizes
from apps.runs.workload import RW
from apps.studies.models import Plan, Study
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import MOST_POINTS

LISTS = ("file_sizes", "patterns", "block_sizes", "iodepths", "numjobs")
READERS: dict[str, Callable[[str], Sequence[Any]]] = {
    "block_sizes": parse_sizes, "iodepths": parse_numbers, "numjobs": parse_numbers,
}  # fmt: skip


@dataclass(frozen=True)
class PlanRequest:
    """What a new plan shall be.

    Args:
        title: Its title.
        targets: Where it runs: one row of the matrix each.
        points: The columns, as `apps.studies.plans.schema` reads them.
        stopping: The stopping rule.
        guards: The guards, as `apps.studies.plans.schema` reads them.
        preparations: What is done before runs, as `apps.plans.preparations.read_preparations` reads it.
        order: interleaved, randomized or sequential.
        seed: Of a randomized order.
        study: The lab's own study that it belongs to; None makes a new one with the same title.
        repeats: The published report's plan whose procedure it follows.
    """

    lab: Lab
    title: str
    targets: Sequence[Target]
    points: Sequence[PlanPointData]
    stopping: Mapping[str, Any]
    guards: Sequence[Mapping[str, Any]] = ()
    preparations: Sequence[Mapping[str, Any]] = ()
    order: str = "interleaved"
    seed: int | None = None
    notes: str = ""
    study: Study | None = None
    repeats: Plan | None = None


def find_preset(name: str) -> Preset:
    """Return a preset by its name. Raises `PlanError`, which lists the names that there are."""
    if name not in BY_NAME:
        raise PlanError("preset", name, f"one of {', '.join(BY_NAME)}")
    return BY_NAME[name]


def make_points(preset: Preset, typed: Mapping[str, Any]) -> list[PlanPointData]:
    """Return the points of a preset for values as people type them; what is empty is as usual for the preset.

    Args:
        typed: `file_sizes`, `runtime` (seconds), `block_sizes`, `iodepths`, `numjobs`, `patterns`.

    Raises:
        PlanError: A value does not fit, or is none of the preset's: it would look as if it had been applied.
    """
    taken = {"file_sizes", *preset.options, *(["runtime"] if preset.runtime else [])}
    refuse_values(typed, f"the procedure {preset.title}", taken)
    lists: dict[str, Any] = {
        name: _read(name, str(typed.get(name) or usual), READERS[name])
        for name, usual in preset.options.items()
        if name in READERS
    }
    if "patterns" in preset.options:
        lists["patterns"] = _patterns(str(typed.get("patterns") or preset.options["patterns"]))
    file_sizes = _read("file_sizes", str(typed.get("file_sizes") or preset.file_sizes), parse_file_sizes)
    runtime = typed.get("runtime") or preset.runtime
    points = preset.make_points(PresetOptions(file_sizes, runtime, **lists))
    if not 1 <= len(points) <= MOST_POINTS:
        raise PlanError("file_sizes", f"{len(points)} combinations", f"1 to {MOST_POINTS} of them: fewer values")
    return points


def points_of_workload(jobs: Sequence[Mapping[str, Any]]) -> list[PlanPointData]:
    """Return a point for each job of a workload, with all of its options.

    Raises:
        PlanError: Its jobs run side by side, and a point is one job.
    """
    if any(not job["stonewall"] for job in jobs[1:]):
        raise PlanError("preset", "jobs side by side", "a workload whose jobs begin one after the other")
    return [_point_of_job(number, job) for number, job in enumerate(jobs)]


def _point_of_job(number: int, job: Mapping[str, Any]) -> PlanPointData:
    own = ("name", "block_size", "file_size", "numjobs", "iodepth")
    return {
        "name": f"job{number}", "label": f"{job['rw']} {spell_size(job['block_size'])}", "tool": "fio",
        "block_size": job["block_size"], "file_size": job["file_size"], "threads": job["numjobs"],
        "iodepth": job["iodepth"], "job": {name: value for name, value in job.items() if name not in own},
    }  # fmt: skip


def refuse_values(typed: Mapping[str, Any], procedure: str, taken: Collection[str] = ()) -> None:
    """Raise `PlanError` for the first value that was typed and that the procedure does not take."""
    for name in (*LISTS, "runtime"):
        if typed.get(name) and name not in taken:
            raise PlanError(name, typed[name], f"nothing: {procedure} has its own")


def _read(name: str, text: str, read: Callable[[str], Sequence[Any]]) -> Sequence[Any]:
    try:
        return read(text)
    except ValueListError as error:
        raise PlanError(name, error.found, error.expected) from None


def read_file_sizes(text: str) -> list[FileSize]:
    """Return the file sizes as people type them; none where nothing was typed. Raises `PlanError`."""
    return list(_read("file_sizes", text, parse_file_sizes)) if text.strip() else []


def _patterns(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in RW:
            raise PlanError("patterns", word, f"some of {', '.join(RW)}")
    if not words:
        raise PlanError("patterns", text, f"some of {', '.join(RW)}")
    return list(dict.fromkeys(words))
