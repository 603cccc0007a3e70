"""Which of the recognised runs shall be kept: all, some, or, where two formats claim the same lines, one format's.

with_choice(file.pk, lambda found: ticked(found, shown={0, 1}, ticks={1}))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction
from msgspec import structs

from apps.uploads.found import count_chosen
from apps.uploads.models import UploadedFile
from apps.uploads.reading import FileReading
from apps.uploads.receiving import UploadError

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


def rivalries(found: FileReading) -> list[Rivalry]:
    """One for each set of formats, however many stretches of lines they quarrel about."""
    grouped: dict[tuple[str, ...], list[list[int]]] = {}
    for component in _components(found):
        grouped.setdefault(tuple(sorted({found.runs[place].format for place in component})), []).append(component)
    return [_rivalry(found, formats, components) for formats, components in grouped.items()]


def _rivalry(found: FileReading, formats: tuple[str, ...], components: list[list[int]]) -> Rivalry:
    every = sorted(place for component in components for place in component)
    places = {name: tuple(p for p in every if found.runs[p].format == name) for name in formats}
    whole = [name for name in formats if places[name] and all(found.runs[p].is_chosen for p in places[name])]
    chosen = [name for name in formats if any(found.runs[p].is_chosen for p in places[name])]
    return Rivalry(places, len(components), whole[0] if whole == chosen and len(chosen) == 1 else "")


def _components(found: FileReading) -> list[list[int]]:
    """Places that are rivals of each other, also over a third one."""
    components, seen = [], set[int]()
    for start, one in enumerate(found.runs):
        if start in seen or not one.rivals:
            continue
        component, waiting = [], [start]
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen.add(place)
                component.append(place)
                waiting += found.runs[place].rivals
        components.append(component)
    return components


def ticked(found: FileReading, shown: Iterable[int], ticks: Iterable[int]) -> FileReading:
    """Of the runs that a page showed, those with a tick; the others stay as they are. A run that is newly chosen takes
    the place of its rivals.
    """
    before = {place for place, one in enumerate(found.runs) if one.is_chosen}
    wanted = set(ticks) & set(range(len(found.runs)))
    chosen = (before - set(shown)) | wanted
    for place in sorted(wanted - before):
        chosen -= set(found.runs[place].rivals)
    return _chosen(found, chosen)


def preferred(found: FileReading, rivalry: Rivalry, name: str) -> FileReading:
    """This format's runs, and none of its rivals'. An empty name: none of them."""
    chosen = {place for place, one in enumerate(found.runs) if one.is_chosen}
    for format_name, places in rivalry.places.items():
        chosen = chosen | set(places) if format_name == name else chosen - set(places)
    return _chosen(found, chosen)


def _chosen(found: FileReading, places: set[int]) -> FileReading:
    return structs.replace(
        found, runs=tuple(structs.replace(one, is_chosen=place in places) for place, one in enumerate(found.runs))
    )


def with_choice(file_id: int, change: Change) -> UploadedFile:
    """Store the reading as `change` makes it. Raises `UploadError` where it is kept or gone meanwhile."""
    with transaction.atomic():
        file: UploadedFile = UploadedFile.objects.select_for_update(of=("self",)).get(pk=file_id)
        found = file.reading
        if found is None or file.kept_at:
            raise UploadError("file", file.name, "a file whose runs wait to be kept")
        file.reading = change(found)
        count_chosen(file, file.reading)
        file.save(update_fields=["packed", "tool", "tool_version", "run_count", "sample_count"])
    return file
