"""A file whose runs are kept, and what is found in it when it is read again: `reparsing.py` for one file."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import F
from msgspec import structs

from apps.parsers.shape import Broken
from apps.runs import workload
from apps.uploads.found import count_chosen
from apps.uploads.keeping import add_runs
from apps.uploads.left_out import described, places_left_out, remembered
from apps.uploads.models import FileState, UploadedFile, UploadedRun
from apps.uploads.pairing import paired
from apps.uploads.places_in_file import places_found, places_kept
from apps.uploads.reading import FileReading
from apps.uploads.replacing import differences, is_as_read, replace
from apps.uploads.run_fields import numbers_of, repetitions_of, spec_of

_OUT_OF_THE_WAY = 1_000_000_000  # no file has so many runs
_SHOWN = 5


@dataclass(frozen=True)
class Change:
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

    def __init__(self, file: UploadedFile, found: FileReading) -> None:
        self.file, self.found = file, found
        rows = file.runs.select_related("run__snapshot", "run__workload", "file__upload")
        self.rows: list[UploadedRun] = list(rows.order_by("format", "number"))
        self.now = places_found(found.runs)
        kept = places_kept(self.rows, [one.digest for one in self.now])
        pairs = paired([*kept, *places_left_out(file.left_out)], self.now)
        self.pairs = {old: new for old, new in pairs.items() if old < len(kept)}
        self.left_out = {old - len(kept): new for old, new in pairs.items() if old >= len(kept)}
        self.fresh = self._fresh()
        self.is_changed = bool(self.fresh)

    def _fresh(self) -> list[int]:
        """Found now and neither kept nor left out; without other readings of lines of which one is."""
        taken = {*self.pairs.values(), *self.left_out.values()}
        runs = enumerate(self.found.runs)
        return [new for new, one in runs if one.is_chosen and new not in taken and not taken.intersection(one.rivals)]

    def changes(self, apply: bool, keep_new: bool) -> Iterator[Change]:
        gained = 0
        for place, row in enumerate(self.rows):
            if place not in self.pairs:
                where = f"{row.format}, number {row.number + 1}"
                yield Change(self.file, f"is not found any more ({where}); it stays as it is", row.run_id)
            elif not is_as_read(row, new := self.found.runs[self.pairs[place]]):
                yield Change(self.file, "changed", row.run_id, differences(row, new))
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
        """Why new runs of it are not kept without a word from somebody."""
        if not self.file.upload.is_kept_at_once or len(self.rows) != self.file.run_count:
            return "not all of its runs were kept"
        if len(self.pairs) < len(self.rows):
            return "they may be those that are not found any more"
        return ""

    def keep_left_out(self, wanted: Collection[int]) -> list[int]:
        """Those of the runs that somebody left out, by their places in `left_out`, become runs as they are read now. Says which;
        what is not found any more stays left out.
        """
        file = self.file
        found = {place: self.left_out[place] for place in wanted if place in self.left_out}
        self.fresh = sorted(found.values())
        self._renumber()
        file.sample_count += self._add()
        file.left_out = [one for place, one in enumerate(file.left_out) if place not in found]
        file.save(update_fields=["run_count", "sample_count", "left_out"])
        return list(file.new_runs or [])

    def _remember_left_out(self) -> None:
        """As they are read now, so that they are found again after the next change, too."""
        now = remembered(self.found, self.left_out.values())
        changed = dict(zip(self.left_out, now, strict=True))
        rows = [changed.get(place, one) for place, one in enumerate(self.file.left_out)]
        if rows != self.file.left_out:
            self.file.left_out = rows
            self.file.save(update_fields=["left_out"])

    def _renumber(self) -> None:
        """To where they stand now; behind them those that are not found any more."""
        places = [(one.format, one.number) for one in self.now]
        behind: dict[str, int] = {one.format: one.number + 1 for one in self.now}  # numbers ascend
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
        """The new runs; all of the file's are counted again as repetitions. Says how many samples they have."""
        fresh = set(self.fresh)
        add_runs(
            self.file.upload,
            [(self.file, with_chosen(self.found, [new in fresh for new in range(len(self.found.runs))]))],
        )
        self._count_repetitions()
        self.file.run_count += len(fresh)
        return sum(self.found.runs[new].sample_count for new in fresh)

    def _count_repetitions(self) -> None:
        rows = {(one.format, one.number): one.run for one in self.file.runs.select_related("run")}
        numbered = zip(self.found.runs, numbers_of(self.found.runs), strict=True)
        kept = [(one, run) for one, number in numbered if (run := rows.get((one.format, number)))]
        counted = repetitions_of([(one, workload.digest(spec_of(one.run))) for one, _ in kept])
        for (_, run), repetition in zip(kept, counted, strict=True):
            if run.repetition != repetition and run.origin == run.Origin.UPLOADED:
                run.repetition = repetition
                run.save(update_fields=["repetition"])

    def _newly_found(self, apply: bool, is_to_keep: bool) -> Change:
        said = f"{len(self.fresh)} more runs are found now"
        if not is_to_keep:
            said += f"; {self._why_not}, so these are kept with --keep-new only"
        elif apply:
            said += f", and kept as {named_runs(self.file.new_runs or [])}"
        values = tuple(described(self.found.runs[new]) for new in self.fresh)
        return Change(self.file, said, values=values)

    def _beside(self, apply: bool, gained: int) -> Iterator[Change]:
        """What the file's own row says."""
        file, found = self.file, self.found
        broken, warnings = [asdict(one) for one in found.broken], list(found.warnings)
        is_said_otherwise = bool(found.runs) and (broken, warnings) != (file.broken, file.warnings)
        if is_said_otherwise:
            text = "what is said of it besides its runs is changed"
            yield Change(file, text, values=tuple(said_otherwise(file.broken, file.warnings, found)))
            file.broken, file.warnings = broken, warnings
            file.state = FileState.PARTLY if broken else FileState.PARSED
        if apply and (is_said_otherwise or self.is_changed):
            counts = file.run_count, max(0, file.sample_count + gained)
            count_chosen(file, found)  # for the tool
            file.run_count, file.sample_count = counts
            names = ["state", "broken", "warnings", "tool", "tool_version", "run_count", "sample_count"]
            file.save(update_fields=names)


def said_otherwise(broken: Sequence[dict[str, Any]], warnings: Sequence[str], now: FileReading) -> Iterator[str]:
    """What was said of a file and is not any more, and what is said now; the first of each."""
    before = [*(str(Broken(**one)) for one in broken), *warnings]
    after = [*map(str, now.broken), *now.warnings]
    yield from [f"said no more: {one}" for one in before if one not in after][:_SHOWN]
    yield from [f"said now: {one}" for one in after if one not in before][:_SHOWN]


def with_chosen(found: FileReading, chosen: Sequence[bool]) -> FileReading:
    runs = zip(found.runs, chosen, strict=True)
    return structs.replace(found, runs=tuple(structs.replace(one, is_chosen=is_so) for one, is_so in runs))


def named_runs(ids: Sequence[int]) -> str:
    return f"run{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"
