"""What a preset is: the workload points of a plan that people know by name, with the rule and guards that belong to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.core.units import size
from apps.plans.value_lists import FileSize

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PlanPointData = dict[str, Any]  # as `apps.studies.plans.schema` reads a point
SEQUENTIAL, ASYNCHRONOUS = "psync", "libaio"


@dataclass(frozen=True)
class PresetOptions:
    """What a person may change of a preset. `runtime` in seconds; None: one pass over the file."""

    file_sizes: Sequence[FileSize]
    runtime: int | None = None
    block_sizes: Sequence[int] = ()
    iodepths: Sequence[int] = ()
    numjobs: Sequence[int] = ()
    patterns: Sequence[str] = ()


@dataclass(frozen=True)
class Preset:
    """A procedure by its name.

    Args:
        name: Its key in forms and REST.
        title: What people call it.
        text: What it answers, in one sentence.
        file_sizes: The usual file sizes, as typed (`value_lists.parse_file_sizes`).
        runtime: The usual seconds a run, None for one pass over the file.
        make_points: The points for these options.
        rule: The usual stopping rule.
        guards: The guards that it asks for.
        options: Which further options it takes: block_sizes, iodepths, numjobs, patterns, with their usual text.
    """

    name: str
    title: str
    text: str
    file_sizes: str
    make_points: Callable[[PresetOptions], list[PlanPointData]]
    runtime: int | None = None
    rule: Mapping[str, Any] = field(default_factory=lambda: {"kind": "fixed", "rounds": 5})
    guards: Sequence[Mapping[str, Any]] = ({"kind": "idle"}, {"kind": "array_settled"}, {"kind": "space"})
    options: Mapping[str, str] = field(default_factory=dict)


def make_point(
    label: str,
    rw: str,
    file_size: FileSize,
    block_size: int,
    *,
    runtime: int | None = None,
    numjobs: int = 1,
    iodepth: int = 1,
    direct: bool = True,
    sync: str = "none",
    end_fsync: bool = False,
) -> PlanPointData:
    """Return a point for fio; a depth above 1 takes an asynchronous engine."""
    job: dict[str, Any] = {"rw": rw, "direct": direct, "sync": sync, "end_fsync": end_fsync}
    job["ioengine"] = ASYNCHRONOUS if iodepth > 1 else SEQUENTIAL
    job["time_based"] = runtime is not None
    if runtime is not None:
        job["runtime"] = runtime
    sizes = {"file_size": file_size.bytes} if file_size.bytes is not None else {"ram_multiple": file_size.ram_multiple}
    name = slug(label)
    return {
        "name": name, "label": label, "tool": "fio", **sizes, "block_size": block_size, "threads": numjobs,
        "iodepth": iodepth, "job": job,
    }  # fmt: skip


def slug(label: str) -> str:
    """Return a point's name from its label: letters, digits and dashes."""
    words = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in label.lower())
    return "-".join(filter(None, words.split("-")))[:60] or "point"


def words_of(file_size: FileSize) -> str:
    """Return `4 GiB` or `2 × RAM`."""
    return f"{file_size.ram_multiple:g} × RAM" if file_size.ram_multiple is not None else size(file_size.bytes)
