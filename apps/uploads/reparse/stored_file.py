"""One file whose runs are saved, compared with a new reading of it and updated to it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import F
from msgspec import structs

from apps.parsers.core.models import Broken
from apps.runs import workload
from apps.uploads.file_reader import FileReading
from apps.uploads.models import FileState, UploadedFile, UploadedRun
from apps.uploads.reparse.differences import differences, is_as_read, replace
from apps.uploads.reparse.exclusions import described, places_left_out, remembered
from apps.uploads.reparse.run_matching import pair_runs, places_found, places_kept
from apps.uploads.results import count_chosen
from apps.uploads.run_fields import numbers_of, repetitions_of, spec_of
from apps.uploads.save_runs import add_runs

_OUT_OF_THE_WAY = 1_000_000_000  # no file has so many runs
_SHOWN = 5


@dataclass(frozen=True)
class ReparseChange:
    """One sentence about a file or a run, and the values that differ, as sentences."""

    file: UploadedFile
    text: str
    run_id: int | None = None
    values: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        run = f" run {self.run_id}" if self.run_id else ""
        return "\n    ".join([f"{self.file.name}{run}: {self.text}", *self.values])


class KeptFile:
    """A file whose runs are kept, and what is found in it now."""

    def __init__(self, file: UploadedFile, reading: FileReading) -> None:
        self.file, self.found = file, reading
        rows = file.runs.select_related("run__snapshot", "run__workload", "file__upload")
        self.rows: list[UploadedRun] = list(rows.order_by("format", "number"))
        self.now = places_found(reading.runs)
        stored = places_kept(self.rows, [item.digest for item in self.now])
        pairs = pair_runs([*stored, *places_left_out(file.left_out)], self.now)
        self.pairs = {old: new for old, new in pairs.items() if old < len(stored)}
        self.left_out = {old - len(stored): new for old, new in pairs.items() if old >= len(stored)}
        self.fresh = self._fresh()
        self.is_changed = bool(self.fresh)

    def _fresh(self) -> list[int]:
        """Return the indices of new runs, except other readings of lines whose run is saved or left out."""
        taken = {*self.pairs.values(), *self.left_out.values()}
        runs = enumerate(self.found.runs)
        return [new for new, run in runs if run.is_chosen and new not in taken and not taken.intersection(run.rivals)]

    def changes(self, apply: bool, keep_new: bool) -> Iterator[ReparseChange]:
        gained = 0
        for place, row in enumerate(self.rows):
            if place not in self.pairs:
                where = f"{row.format}, number {row.number + 1}"
                yield ReparseChange(self.file, f"is not found any more ({where}); it stays as it is", row.run_id)
            elif not is_as_read(row, new := self.found.runs[self.pairs[place]]):
                yield ReparseChange(self.file, "changed", row.run_id, differences(row, new))
                gained += replace(row, new) if apply else 0
                self.is_changed = True
        is_to_keep = bool(self.fresh) and (keep_new or not self._why_not)
        if apply:
            self._renumber()
            self._remember_left_out()
            gained += self._add() if is_to_keep else 0
        if self.fresh:
            yield self._newly_found(apply, is_to_keep)
        yield from self._beside(apply, gained)

    @property
    def _why_not(self) -> str:
        """Return why new runs are not saved without a person's word, or an empty string."""
        if not self.file.upload.is_kept_at_once or len(self.rows) != self.file.run_count:
            return "not all of its runs were kept"
        if len(self.pairs) < len(self.rows):
            return "they may be those that are not found any more"
        return ""

    def keep_left_out(self, wanted: Collection[int]) -> list[int]:
        """Save runs that a person left out, as they are parsed now; runs that are not found any more stay left out.

        Args:
            wanted: Indices in the file's `left_out`.

        Returns:
            The ids of the new runs.
        """
        file = self.file
        result = {place: self.left_out[place] for place in wanted if place in self.left_out}
        self.fresh = sorted(result.values())
        self._renumber()
        file.sample_count += self._add()
        file.left_out = [item for place, item in enumerate(file.left_out) if place not in result]
        file.save(update_fields=["run_count", "sample_count", "left_out"])
        return list(file.new_runs or [])

    def _remember_left_out(self) -> None:
        """Update what identifies the left-out runs, so that they are recognised after the next change too."""
        now = remembered(self.found, self.left_out.values())
        changed = dict(zip(self.left_out, now, strict=True))
        rows = [changed.get(place, item) for place, item in enumerate(self.file.left_out)]
        if rows != self.file.left_out:
            self.file.left_out = rows
            self.file.save(update_fields=["left_out"])

    def _renumber(self) -> None:
        """Set the rows' numbers to their places in the new reading, and put runs that are not found any more behind them."""
        places = [(item.format, item.number) for item in self.now]
        behind: dict[str, int] = {item.format: item.number + 1 for item in self.now}  # numbers ascend
        wanted: list[tuple[str, int]] = []
        for place, row in enumerate(self.rows):
            if place in self.pairs:
                wanted.append(places[self.pairs[place]])
            else:
                wanted.append((row.format, behind.setdefault(row.format, 0)))
                behind[row.format] += 1
        if wanted == [(row.format, row.number) for row in self.rows]:
            return
        self.file.runs.update(number=F("number") + _OUT_OF_THE_WAY)
        for row, (format_name, number) in zip(self.rows, wanted, strict=True):
            row.format, row.number = format_name, number
            row.save(update_fields=["format", "number"])

    def _add(self) -> int:
        """Save the new runs and count the repetitions of all runs of the file.

        Returns:
            How many samples the new runs have.
        """
        fresh = set(self.fresh)
        add_runs(
            self.file.upload,
            [(self.file, with_chosen(self.found, [new in fresh for new in range(len(self.found.runs))]))],
        )
        self._count_repetitions()
        self.file.run_count += len(fresh)
        return sum(self.found.runs[new].sample_count for new in fresh)

    def _count_repetitions(self) -> None:
        rows = {(run.format, run.number): run.run for run in self.file.runs.select_related("run")}
        numbered = zip(self.found.runs, numbers_of(self.found.runs), strict=True)
        stored = [(item, run) for item, number in numbered if (run := rows.get((item.format, number)))]
        counted = repetitions_of([(item, workload.digest(spec_of(item.run))) for item, _ in stored])
        for (_, run), repetition in zip(stored, counted, strict=True):
            if run.repetition != repetition and run.origin == run.Origin.UPLOADED:
                run.repetition = repetition
                run.save(update_fields=["repetition"])

    def _newly_found(self, apply: bool, is_to_keep: bool) -> ReparseChange:
        text = f"{len(self.fresh)} more runs are found now"
        if not is_to_keep:
            text += f"; {self._why_not}, so these are kept with --keep-new only"
        elif apply:
            text += f", and kept as {named_runs(self.file.new_runs or [])}"
        values = tuple(described(self.found.runs[new]) for new in self.fresh)
        return ReparseChange(self.file, text, values=values)

    def _beside(self, apply: bool, gained: int) -> Iterator[ReparseChange]:
        """Yield the changes of the file's own row, and write it with `apply`."""
        file, result = self.file, self.found
        broken, warnings = [asdict(item) for item in result.broken], list(result.warnings)
        is_said_otherwise = bool(result.runs) and (broken, warnings) != (file.broken, file.warnings)
        if is_said_otherwise:
            text = "what is said of it besides its runs is changed"
            yield ReparseChange(file, text, values=tuple(describe_message_changes(file.broken, file.warnings, result)))
            file.broken, file.warnings = broken, warnings
            file.state = FileState.PARTLY if broken else FileState.PARSED
        if apply and (is_said_otherwise or self.is_changed):
            counts = file.run_count, max(0, file.sample_count + gained)
            count_chosen(file, result)  # for the tool
            file.run_count, file.sample_count = counts
            names = ["state", "broken", "warnings", "tool", "tool_version", "run_count", "sample_count"]
            file.save(update_fields=names)


def describe_message_changes(
    broken: Sequence[dict[str, Any]], warnings: Sequence[str], now: FileReading
) -> Iterator[str]:
    """Yield the problems and warnings that are gone, and those that are new, at most `_SHOWN` of each."""
    before = [*(str(Broken(**item)) for item in broken), *warnings]
    after = [*map(str, now.broken), *now.warnings]
    yield from [f"said no more: {item}" for item in before if item not in after][:_SHOWN]
    yield from [f"said now: {item}" for item in after if item not in before][:_SHOWN]


def with_chosen(reading: FileReading, chosen: Sequence[bool]) -> FileReading:
    runs = zip(reading.runs, chosen, strict=True)
    return structs.replace(reading, runs=tuple(structs.replace(run, is_chosen=is_so) for run, is_so in runs))


def named_runs(ids: Sequence[int]) -> str:
    return f"run{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"
