"""The selection of parsed runs to save: all, some, or one format's where two formats claim the same lines.

with_choice(file.pk, lambda reading: ticked(reading, on_page={0, 1}, ticks={1}))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction
from msgspec import structs

from apps.uploads.file_reader import FileReading
from apps.uploads.labels import UploadError
from apps.uploads.models import UploadedFile
from apps.uploads.results import count_chosen

Change = Callable[[FileReading], FileReading]


@dataclass(frozen=True)
class Rivalry:
    """Formats that read the same lines, each with the places of its runs among the file's."""

    places: dict[str, tuple[int, ...]]
    count: int  # how many stretches of lines
    chosen: str  # a format's name; empty where it is none or not the same one everywhere

    @property
    def formats(self) -> tuple[str, ...]:
        return tuple(self.places)


def rivalries(reading: FileReading) -> list[Rivalry]:
    """Return one rivalry for each set of formats that read the same lines."""
    grouped: dict[tuple[str, ...], list[list[int]]] = {}
    for component in _components(reading):
        grouped.setdefault(tuple(sorted({reading.runs[place].format for place in component})), []).append(component)
    return [_rivalry(reading, formats, components) for formats, components in grouped.items()]


def _rivalry(reading: FileReading, formats: tuple[str, ...], components: list[list[int]]) -> Rivalry:
    every = sorted(place for component in components for place in component)
    places = {name: tuple(p for p in every if reading.runs[p].format == name) for name in formats}
    whole = [name for name in formats if places[name] and all(reading.runs[p].is_chosen for p in places[name])]
    chosen = [name for name in formats if any(reading.runs[p].is_chosen for p in places[name])]
    return Rivalry(places, len(components), whole[0] if whole == chosen and len(chosen) == 1 else "")


def _components(reading: FileReading) -> list[list[int]]:
    """Return the groups of indices of runs that are rivals, directly or through other runs."""
    components, seen = [], set[int]()
    for start, run in enumerate(reading.runs):
        if start in seen or not run.rivals:
            continue
        component, waiting = [], [start]
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen.add(place)
                component.append(place)
                waiting += reading.runs[place].rivals
        components.append(component)
    return components


def ticked(reading: FileReading, on_page: Iterable[int], ticks: Iterable[int]) -> FileReading:
    """Return the reading with the ticks of a page.

    Args:
        on_page: Indices of the runs on the page; all others keep their choice.
        ticks: Indices of those with a tick; a newly ticked run replaces its rivals.
    """
    before = {place for place, run in enumerate(reading.runs) if run.is_chosen}
    wanted = set(ticks) & set(range(len(reading.runs)))
    chosen = (before - set(on_page)) | wanted
    for place in sorted(wanted - before):
        chosen -= set(reading.runs[place].rivals)
    return _chosen(reading, chosen)


def preferred(reading: FileReading, rivalry: Rivalry, name: str) -> FileReading:
    """Return the reading with the runs of one format chosen in a rivalry, or none of them for an empty name."""
    chosen = {place for place, run in enumerate(reading.runs) if run.is_chosen}
    for format_name, places in rivalry.places.items():
        chosen = chosen | set(places) if format_name == name else chosen - set(places)
    return _chosen(reading, chosen)


def _chosen(reading: FileReading, places: set[int]) -> FileReading:
    return structs.replace(
        reading, runs=tuple(structs.replace(run, is_chosen=place in places) for place, run in enumerate(reading.runs))
    )


def with_choice(file_id: int, change: Change) -> UploadedFile:
    """Store a file's reading as `change` returns it.

    Raises:
        UploadError: The file is saved or gone meanwhile.
    """
    with transaction.atomic():
        file: UploadedFile = UploadedFile.objects.select_for_update(of=("self",)).get(pk=file_id)
        result = file.reading
        if result is None or file.kept_at:
            raise UploadError("file", file.name, "a file whose runs wait to be kept")
        file.reading = change(result)
        count_chosen(file, file.reading)
        file.save(update_fields=["packed", "tool", "tool_version", "run_count", "sample_count"])
    return file
