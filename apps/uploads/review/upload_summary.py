"""The contents of an upload's page, in a constant number of queries however many files it has."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch, Q, Sum
from django.urls import reverse
from django.utils.http import urlencode

from apps.core.quantities import spell_size
from apps.inventory.models import Host
from apps.uploads.host_matching import Guesser
from apps.uploads.inventory_import import likely_host
from apps.uploads.models import FileState, FoundInventory, FoundWorkload, Upload, UploadedFile, UploadedRun

FILES = 50  # on one page
FOUND = 25  # pieces of inventory, and job files, on one page
LINKS = 3  # runs, or hosts, named for one file; the rest is counted
SURE, FAIRLY = 0.9, 0.5
SIZES = ("block_size", "file_size")


@dataclass(frozen=True)
class Tally:
    """What all files of an upload add up to."""

    files: int
    waiting: int
    opening: int  # archives whose other files are not here yet
    problems: int
    unmapped: int  # tables that somebody must say more about
    runs: int
    samples: int
    to_keep: int  # files
    runs_to_keep: int
    kept: int  # files
    known: int  # files
    left: int  # files that may still give runs, by whatever a person says

    @property
    def read(self) -> int:
        return self.files - self.waiting


def tally(upload: Upload) -> Tally:
    open_ = Q(state__in=(FileState.PARSED, FileState.PARTLY), run_count__gt=0, kept_at=None, packed__isnull=False)
    counts = UploadedFile.objects.filter(upload=upload).aggregate(
        files=Count("id"),
        waiting=Count("id", filter=Q(state=FileState.WAITING)),
        problems=Count("id", filter=Q(state__in=(FileState.PARTLY, FileState.FAILED, FileState.REFUSED))),
        unmapped=Count("id", filter=Q(state=FileState.FAILED, format="table")),
        runs=Sum("run_count", default=0),
        samples=Sum("sample_count", default=0),
        to_keep=Count("id", filter=open_),
        runs_to_keep=Sum("run_count", filter=open_, default=0),
        kept=Count("id", filter=Q(kept_at__isnull=False)),
        known=Count("id", filter=Q(state=FileState.KNOWN)),
        left=Count("id", filter=Q(kept_at=None) & ~Q(state__in=(FileState.UNPACKED, FileState.KNOWN))),
    )
    return Tally(**counts, opening=_opening(upload) if counts["waiting"] else 0)


def _opening(upload: Upload) -> int:
    """Return how many archives wait while their members are being parsed.

    Two plain queries: as one, with PostgreSQL's statistics out of date, it may look through all files for each of
    them,
    which takes 18 s for 8,000 files.
    """
    files = UploadedFile.objects.filter(upload=upload).order_by()
    opened = set(files.exclude(archive=None).values_list("archive", flat=True).distinct())
    return files.filter(pk__in=opened, state=FileState.WAITING).count() if opened else 0


@dataclass
class FileRow:
    file: UploadedFile
    runs: list[int] = field(default_factory=list)  # kept from it, or from the file with the same bytes
    places: dict[int, Host] = field(default_factory=dict)
    own: str = ""  # where its runs print different hosts: those that the lab has

    @property
    def sure(self) -> str:
        """Return in words how sure the format is."""
        file = self.file
        if file.mapping:
            return "as mapped"
        if file.only:
            return "chosen by hand"
        return "sure" if file.confidence >= SURE else "fairly sure" if file.confidence >= FAIRLY else "unsure"

    @property
    def recognised(self) -> str:
        """Return tool and version, such as `bonnie++ 1.97`, or the format's name."""
        return f"{self.file.tool} {self.file.tool_version}".strip() or self.file.format

    @property
    def needs_mapping(self) -> bool:
        return self.file.format == "table" and self.file.state == FileState.FAILED

    @property
    def is_open(self) -> bool:
        """Return whether the file's runs can be saved now."""
        file = self.file
        return bool(file.run_count) and file.kept_at is None and file.state in (FileState.PARSED, FileState.PARTLY)

    @property
    def problem(self) -> dict[str, Any] | None:
        return self.file.error or (self.file.broken[0] if self.file.broken else None)

    @property
    def named(self) -> list[int]:
        return self.runs[:LINKS]

    @property
    def unnamed(self) -> int:
        return max(0, len(self.runs) - LINKS)

    @property
    def where(self) -> str:
        """Return the name of the target or host that the file's runs will have."""
        host_id, target_id = self.file.place
        host = self.places.get(host_id or 0)
        target = next((target for target in host.targets.all() if target.pk == target_id), None) if host else None
        return f"{target}" if target else str(host or "")

    @property
    def says(self) -> str:
        """Return the first host names that the output prints, where the file has no host."""
        return "" if any(self.file.place) else _first(self.file.printed_hosts)

    @property
    def why(self) -> str:
        """Return the reason of the guessed host, or an empty string where a person chose it."""
        is_own = self.file.place == (self.file.host_id, self.file.target_id)
        return self.file.guessed if is_own else ""


def rows_of(upload: Upload, files: Iterable[UploadedFile], hosts: Sequence[Host]) -> list[FileRow]:
    listed = list(files)
    places = {host.pk: host for host in hosts}
    for file in listed:
        file.upload = upload
    guesser = Guesser(upload, hosts)
    rows = {file.pk: FileRow(file, places=places, own=_own_hosts(file, guesser, places)) for file in listed}
    of_file: dict[int, list[int]] = {file.known_as_id or file.pk: [] for file in listed}
    pairs = UploadedRun.objects.filter(file__in=of_file).order_by("run_id").values_list("file_id", "run_id")
    for file_id, run_id in pairs:
        of_file[file_id].append(run_id)
    for file in listed:
        rows[file.pk].runs = of_file[file.known_as_id or file.pk]
    return list(rows.values())


def _own_hosts(file: UploadedFile, guesser: Guesser, places: dict[int, Host]) -> str:
    if any(file.place) or len(file.printed_hosts) < 2:
        return ""
    result = [guesser.host_named(name) for name in file.printed_hosts]
    return _first(list(dict.fromkeys(str(places[pk]) for pk in result if pk in places)))


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - LINKS} more" if len(names) > LINKS else ""
    return f"{', '.join(names[:LINKS])}{more}"


def neighbours(file: UploadedFile) -> list[tuple[str, UploadedFile | None]]:
    """Return the previous and the next file of the upload's list, without archives."""
    others = (
        UploadedFile.objects.filter(upload=file.upload_id).exclude(state=FileState.UNPACKED).only("name", "upload_id")
    )
    before = others.filter(Q(name__lt=file.name) | Q(name=file.name, pk__lt=file.pk)).order_by("-name", "-id")
    behind = others.filter(Q(name__gt=file.name) | Q(name=file.name, pk__gt=file.pk)).order_by("name", "id")
    return [("Previous file", before.first()), ("Next file", behind.first())]


def page_of(upload: Upload, files: Any, number: str | None, hosts: Sequence[Host]) -> "Page[FileRow]":
    known = Prefetch(
        "known_as", UploadedFile.objects.light()
    )  # joined, it would be looked for beside files of other pages too
    result = files.filter(upload=upload).light().prefetch_related(known)
    result = result.order_by("name", "id")  # browsers and archives give them in no order
    page: Any = Paginator(result, FILES).get_page(number)
    page.object_list = rows_of(upload, page.object_list, hosts)
    return page  # type: ignore[no-any-return]


def inventory_of(upload: Upload, number: str | None) -> "Page[FoundInventory]":
    """Return a page of the upload's inventory outputs, open ones first."""
    outputs = (
        FoundInventory.objects.filter(file__upload=upload)
        .select_related("file", "host")
        .defer("file__packed", "content")
    )
    order = outputs.annotate(is_open=Q(state=FoundInventory.State.OFFERED)).order_by("-is_open", "id")
    page: Any = Paginator(order, FOUND).get_page(number)
    guesser = Guesser(upload)
    for item in page:
        item.likely_id = likely_host(item, upload, guesser)
    return page  # type: ignore[no-any-return]


@dataclass(frozen=True)
class OtherContent:
    """Something in a file that is no result."""

    tool: str
    words: str
    line: int | None
    state: str


def beside_results(file: UploadedFile) -> list[OtherContent]:
    inventory = FoundInventory.objects.filter(file=file).select_related("host").defer("content")[:FOUND]
    result = [
        OtherContent(item.tool, item.summary, item.line, f"{item.get_state_display()} {item.host or ''}")
        for item in inventory
    ]
    for job in FoundWorkload.objects.filter(file=file)[:FOUND]:
        count = len(job.jobs)
        result.append(OtherContent("fio", f"job file with {count} job{'s' * (count != 1)} to run", None, "offered"))
    return result


@dataclass(frozen=True)
class ShownWorkload:
    """A fio job file, with the address of the start form that is filled in with its jobs."""

    workload: FoundWorkload

    @property
    def jobs(self) -> list[dict[str, str]]:
        return [{"name": str(job.get("name", "")), "options": _options(job)} for job in self.workload.jobs]

    @property
    def start(self) -> str:
        return f"{reverse('run-new')}?{urlencode({'jobs': json.dumps(self.workload.jobs)})}"


def _options(job: dict[str, Any]) -> str:
    """Return a job's options as in the job file, with sizes in fio's spelling."""
    text = {name: spell_size(value) if name in SIZES else value for name, value in job.items() if name != "name"}
    return " ".join(f"{name}={_word(value)}" for name, value in text.items() if value is not None)


def _word(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def workloads_of(upload: Upload) -> list[ShownWorkload]:
    workloads = FoundWorkload.objects.filter(file__upload=upload).select_related("file").defer("file__packed")
    return [ShownWorkload(item) for item in workloads[:FOUND]]
