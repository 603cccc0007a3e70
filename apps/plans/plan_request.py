"""A plan as somebody asks for it: a preset with its values, and the targets it runs on. From the form and from REST."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.like_for_like.selection import parse_reference
from apps.comparison.question import QuestionError
from apps.core.quantities import spell_size
from apps.core.text import find_free_name
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.parsers.fio.job_options.agreement import groups_of
from apps.parsers.fio.job_options.table import BY_NAME as OPTION_BY_NAME
from apps.parsers.fio.job_options.table import spell_value
from apps.plans.point_variation import vary_points
from apps.plans.presets import BY_NAME
from apps.plans.presets.preset import PlanPointData, Preset, PresetOptions, words_of
from apps.plans.run_procedure import count_words, label_of_point, point_of_turn, points_of_run, size_of
from apps.plans.value_lists import FileSize, ValueListError, parse_file_sizes, parse_numbers, parse_sizes
from apps.runs.models import Run
from apps.runs.start.job_file import JobFileError, read_job_file
from apps.runs.start.option_lists import Values
from apps.runs.states import Priority
from apps.runs.workload import RW
from apps.studies.models import Plan, Study
from apps.studies.plans.problems import PlanError, number
from apps.studies.plans.schema import MOST_POINTS, RAM_MULTIPLES

LISTS = ("file_sizes", "patterns", "block_sizes", "iodepths", "numjobs")
READERS: dict[str, Callable[[str], Sequence[Any]]] = {
    "block_sizes": parse_sizes, "iodepths": parse_numbers, "numjobs": parse_numbers,
}  # fmt: skip
OPTION_OF = {"file_sizes": "file_size", "block_sizes": "block_size", "iodepths": "iodepth", "numjobs": "numjobs"}


@dataclass(frozen=True)
class PlanPoints:
    """The points of a plan, and sentences for its notes about what is left out."""

    points: list[PlanPointData]
    remarks: list[str]


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
        priority: Of the runs that it starts.
        time_limit: Seconds that each of its measured runs may take; None: by each one's estimate.
        question: The question of Compare that it is made for, as `read_question` returns it.
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
    priority: Priority = Priority.NORMAL
    time_limit: int | None = None
    question: str = ""


def read_question(text: str) -> str:
    """Return a reference to a question of Compare in its one spelling; empty where there is none. Raises `PlanError`."""
    try:
        return str(parse_reference(text)) if text else ""
    except QuestionError as error:
        raise PlanError("question", text[:80], f"a question of Compare ({error})") from None


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
    file_sizes = read_file_sizes(str(typed.get("file_sizes") or preset.file_sizes))
    runtime = typed.get("runtime") or preset.runtime
    points = preset.make_points(PresetOptions(file_sizes, runtime, **lists))
    if not 1 <= len(points) <= MOST_POINTS:
        counts = {"file_sizes": len(file_sizes), **{name: len(values) for name, values in lists.items()}}
        longest = max(counts, key=lambda name: counts[name])
        raise PlanError(longest, f"{len(points)} combinations", f"1 to {MOST_POINTS} of them: fewer values")
    return points


def vary_preset(preset: Preset, typed: Mapping[str, Any], options: Values) -> PlanPoints:
    """Return the points of a preset, for each combination of further options of fio.

    Raises:
        PlanError: As `make_points` does, or the preset itself is about one of the options.
    """
    lists = dict(typed)
    if "runtime" in options:
        if typed.get("runtime"):
            raise PlanError("runtime", typed["runtime"], "nothing beside options.runtime")
        if not preset.runtime:
            refuse_values({}, f"the procedure {preset.title}", options={"runtime": options["runtime"]})
        lists["runtime"] = options["runtime"][0]  # so that the points are timed
    points = make_points(preset, lists)
    for name, values in options.items():
        if name != "ioengine" and len(set(map(str, (point["job"].get(name) for point in points)))) > 1:
            found = spell_value(name, values[0])
            raise PlanError(f"options.{name}", found, f"nothing: the procedure {preset.title} varies it itself")
    return PlanPoints(*vary_points(points, options))


def read_jobs(text: str) -> list[dict[str, Any]]:
    """Return the jobs of a fio job file. Raises `PlanError`, which names the first line that is not taken over."""
    try:
        return list(read_job_file(text)["jobs"])
    except JobFileError as error:
        first = error.problems[0]
        where = f"line {first.line}: " if first.line else ""
        raise PlanError("job_file", f"{where}{first.found}", first.expected) from None


def vary_jobs(jobs: Sequence[Mapping[str, Any]], typed: Mapping[str, Any], options: Values) -> PlanPoints:
    """Return a point for each turn of a workload, for each combination of the lists and options; the rest is the jobs'.

    Jobs of one turn run at the same time: they are one point, and each of them gets every value.

    Raises:
        PlanError: The values do not fit.
    """
    sizes = read_file_sizes(str(typed.get("file_sizes") or ""))
    points, number = [], 0
    for turn in groups_of(list(map(dict, jobs))):
        for size in sizes or (None,):
            point = point_of_turn(turn, size)
            points.append({**point, "name": point["name"] if len(sizes) > 1 else f"job{number}"})
        number += len(turn)
    values = _read_lists(typed) | _with_runtime(typed, options)

    def relabel(point: PlanPointData) -> str:
        size = [words_of(size_of(point))] if len(sizes) > 1 else []
        if "jobs" not in point:
            return " ".join([point["job"]["rw"], *size, spell_size(point["block_size"])])
        words = count_words(f"{job['rw']} {spell_size(job['block_size'])}" for job in point["jobs"])
        return ", ".join([words, *size])

    varied, remarks = vary_points(points, values, relabel, ("rw", "block_size"))
    return PlanPoints(_name_apart(varied), remarks)


def vary_run(run: Run, typed: Mapping[str, Any], options: Values) -> PlanPoints:
    """Return a point for each turn of a run, for each combination of the lists and options; the rest is as the run had it.

    Raises:
        PlanError: The run cannot be repeated, or the values do not fit.
    """
    points = points_of_run(run, read_file_sizes(str(typed.get("file_sizes") or "")))
    values = _read_lists(typed) | _with_runtime(typed, options)
    varied, remarks = vary_points(points, values, label_of_point, ("rw", "block_size", "direct"))
    return PlanPoints(_name_apart(varied), remarks)


def _read_lists(typed: Mapping[str, Any]) -> Values:
    """Return the values of the lists that somebody typed, by fio's options."""
    values: Values = {}
    if typed.get("patterns"):
        values["rw"] = _patterns(str(typed["patterns"]))
    for name, read in READERS.items():
        if typed.get(name):
            values[OPTION_OF[name]] = list(_read(name, str(typed[name]), read))
    return values


def _with_runtime(typed: Mapping[str, Any], options: Values) -> Values:
    if not typed.get("runtime"):
        return options
    if "runtime" in options:
        raise PlanError("runtime", typed["runtime"], "nothing beside options.runtime")
    return {**options, "runtime": [typed["runtime"]]}


def _name_apart(points: Sequence[PlanPointData]) -> list[PlanPointData]:
    """Return the points with different names, those of one job for several sizes too. Raises `PlanError` for too many."""
    if len(points) > MOST_POINTS:
        raise PlanError("file_sizes", f"{len(points)} combinations", f"at most {MOST_POINTS} points of a plan")
    taken: set[str] = set()
    named = []
    for point in points:
        name = find_free_name(point["name"], taken)
        taken.add(name)
        named.append({**point, "name": name})
    return named


def refuse_values(
    typed: Mapping[str, Any], procedure: str, taken: Collection[str] = (), options: Mapping[str, Any] | None = None
) -> None:
    """Raise `PlanError` for the first value or option that was typed and that the procedure does not take."""
    for name in (*LISTS, "runtime"):
        if typed.get(name) and name not in taken:
            raise PlanError(name, typed[name], f"nothing: {procedure} has its own")
    for name, values in (options or {}).items():
        found = ", ".join(spell_value(name, value) for value in values)
        raise PlanError(f"options.{name}", found, f"nothing: {procedure} has its own")


def _read(name: str, text: str, read: Callable[[str], Sequence[Any]]) -> Sequence[Any]:
    try:
        values = read(text)
    except ValueListError as error:
        raise PlanError(name, error.found, error.expected) from None
    for value in values:
        _check_value(name, value)
    return values


def _check_value(name: str, value: Any) -> None:
    """Raise `PlanError` about the list where fio's option of one job does not take a value of it."""
    kind = OPTION_BY_NAME[OPTION_OF[name]].kind
    if isinstance(value, FileSize):
        if value.bytes is None:
            low, high = RAM_MULTIPLES
            number(name, value.ram_multiple, low, high)
            return
        value = value.bytes
    if not kind.accepts(value):
        raise PlanError(name, value, kind.expected)


def read_file_sizes(text: str) -> list[FileSize]:
    """Return the file sizes as people type them; none where nothing was typed. Raises `PlanError`."""
    return list(_read("file_sizes", text, parse_file_sizes)) if text.strip() else []


def read_patterns(text: str) -> list[str]:
    """Return the patterns as people type them; none where nothing was typed. Raises `PlanError`."""
    return _patterns(text) if text.strip() else []


def _patterns(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in RW:
            raise PlanError("patterns", word, f"some of {', '.join(RW)}")
    if not words:
        raise PlanError("patterns", text, f"some of {', '.join(RW)}")
    return list(dict.fromkeys(words))
