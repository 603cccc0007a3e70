"""Models of uploads: the files that people sent, what was recognised in them, and the runs that were saved from them.

Raw bytes are artefacts, stored before anything parses them. What was parsed from a file waits in its row until somebody saves
it as runs or discards it; the bytes stay.
"""

import zlib
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

import msgspec
from django.db import models, transaction
from django.db.models import Count, F, Q, Sum
from django.urls import reverse
from django.utils import timezone

from apps.core.sql import is_due
from apps.inventory.models import Host, Target
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped, ThroughParent
from apps.runs.models import Artefact, Run
from apps.studies.models import Study
from apps.uploads.file_reader import FileReading

MAX_TRIES = 3
LEASE = timedelta(
    minutes=11
)  # longer than a task may live; that its worker died is mostly seen sooner (`pipeline.hold_reading_lock`)


class UploadState(models.TextChoices):
    QUEUED = "queued", "waiting"
    PARSING = "parsing", "being read"
    PARSED = "parsed", "read"
    PARTLY = "partly", "read in part"
    FAILED = "failed", "not readable"


ENDED = (UploadState.PARSED, UploadState.PARTLY, UploadState.FAILED)


class UploadQuerySet(LabQuerySet["Upload"]):
    def newest(self) -> Self:
        return self.order_by("-id")

    def to_parse(self, now: datetime) -> Self:
        """Return queued uploads and those whose worker died, with tries left."""
        return self._waiting(now).filter(tries__lt=MAX_TRIES)

    def cut_short(self, now: datetime) -> Self:
        """Return uploads that began `MAX_TRIES` times and never ended."""
        return self._waiting(now).filter(tries__gte=MAX_TRIES)

    def _waiting(self, now: datetime) -> Self:
        abandoned = Q(state=UploadState.PARSING) & is_due("lease_until", now, LEASE)
        return self.filter(Q(state=UploadState.QUEUED) | abandoned)

    def with_counts(self) -> Self:
        return self.annotate(
            file_count=Count("files"),
            run_count=Sum("files__run_count", default=0),
            sample_count=Sum("files__sample_count", default=0),
            kept_count=Count("files", filter=Q(files__kept_at__isnull=False)),
            to_keep_count=Count("files", filter=Q(files__run_count__gt=0, files__packed__isnull=False)),
            unmapped_count=Count("files", filter=Q(files__state=FileState.FAILED, files__format="table")),
        )


class Upload(LabScoped):
    """Files that came together: one request, one archive, one folder."""

    class Door(models.TextChoices):
        PAGE = "page", "page"
        REST = "rest", "REST"
        COMMAND = "command", "command line"

    name = models.CharField(max_length=300, help_text="the first file's name, or the archive's")
    door = models.CharField(max_length=8, choices=Door.choices)
    state = models.CharField(max_length=8, choices=UploadState.choices, default=UploadState.QUEUED)
    study = models.ForeignKey(Study, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    labels = models.JSONField(default=dict, blank=True)
    is_kept_at_once = models.BooleanField(default=False, help_text="without a preview")
    problem = models.TextField(blank=True)
    joined = models.TextField(blank=True, help_text="what became of the earlier runs of known files")
    tries = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    discarded_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = LabManager.from_queryset(UploadQuerySet)()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=("queued", "parsing")), name="upload_to_parse"),
            models.Index(fields=["lab", "-id"], name="upload_newest"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("upload", args=[self.pk])

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    def claim(self) -> bool:
        """Claim the upload for one worker until its lease ends. Return False where another worker has it."""
        now = timezone.now()
        mine = Upload.objects.filter(pk=self.pk).to_parse(now)
        return bool(mine.update(state=UploadState.PARSING, tries=F("tries") + 1, lease_until=now + LEASE))

    def go_on_later(self) -> None:
        """Put a half-parsed upload back into the queue, without counting a failed try."""
        self.state = UploadState.QUEUED
        Upload.objects.filter(pk=self.pk).update(state=self.state, tries=F("tries") - 1, lease_until=None)

    @transaction.atomic
    def finish(self) -> bool:
        """Set the state that the files' states add up to.

        Return False where another file arrived: then it is queued again.
        """
        Upload.objects.select_for_update().get(pk=self.pk)  # who hands over a file now waits, and finds it ended
        states = set(self.files.values_list("state", flat=True))
        if FileState.WAITING in states:
            self.go_on_later()
            return False
        result = self.files.filter(Q(run_count__gt=0) | Q(inventory__isnull=False) | Q(workloads__isnull=False))
        if states <= set(GOOD):
            self.state = UploadState.PARSED
        else:
            self.state = UploadState.PARTLY if result.exists() else UploadState.FAILED
        self.finished_at, self.lease_until = timezone.now(), None
        self.save(update_fields=["state", "finished_at", "lease_until"])
        return True


class FileState(models.TextChoices):
    WAITING = "waiting", "waiting"
    UNPACKED = "unpacked", "archive"
    PARSED = "parsed", "read"
    PARTLY = "partly", "read in part"
    FAILED = "failed", "not readable"
    REFUSED = "refused", "refused"
    KNOWN = "known", "here already"


GOOD = (FileState.PARSED, FileState.UNPACKED, FileState.KNOWN)


class FileQuerySet(LabQuerySet["UploadedFile"]):
    def waiting(self) -> Self:
        return self.filter(state=FileState.WAITING).order_by("id")

    def to_keep(self) -> Self:
        return self.filter(state__in=(FileState.PARSED, FileState.PARTLY), kept_at=None, run_count__gt=0)

    def to_read_again(self) -> Self:
        """Return the files that were parsed, saved or not, except empty ones and those of discarded uploads."""
        states = (FileState.PARSED, FileState.PARTLY, FileState.FAILED)
        result = self.filter(state__in=states, artefact__isnull=False, upload__discarded_at=None, size__gt=0)
        return result.select_related("artefact", "upload").order_by("id")

    def light(self) -> Self:
        """Defer the packed reading, which only the preview needs."""
        return self.defer("packed")

    def held(self) -> Self:
        """Lock the rows until the transaction ends, in the order of their ids so that no two workers wait for each other."""
        return self.select_for_update(of=("self",)).order_by("id")


class UploadedFile(ThroughParent):
    """One file, or one member of an archive."""

    lab_path: ClassVar[str] = "upload__lab_id"
    new_runs: list[int] | None = None  # of one whose reading was stored just now: the runs that came of it

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=1000, help_text="with its path, as it came")
    archive = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="members")
    artefact = models.ForeignKey(Artefact, on_delete=models.PROTECT, null=True, related_name="+")
    size = models.BigIntegerField(default=0)
    state = models.CharField(max_length=8, choices=FileState.choices, default=FileState.WAITING)
    format = models.CharField(max_length=40, blank=True)
    confidence = models.FloatField(default=0)
    tool = models.CharField(max_length=40, blank=True)
    tool_version = models.CharField(max_length=60, blank=True)
    run_count = models.PositiveIntegerField(default=0)
    sample_count = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list)
    broken = models.JSONField(default=list, help_text="[{message, line, found, expected}]: runs that could not be read")
    error = models.JSONField(null=True, help_text="why nothing was found, in the same words")
    printed_hosts = models.JSONField(default=list, help_text="the host names that stand in the text")
    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.SET_NULL, null=True, related_name="+")
    labels = models.JSONField(default=dict)
    guessed = models.CharField(max_length=300, blank=True, help_text="why this host or target, when nobody said so")
    only = models.CharField(max_length=40, blank=True, help_text="the format a person chose")
    mapping = models.JSONField(null=True, help_text="a person's, for a table")
    packed = models.BinaryField(null=True, help_text="zlib of the reading, until it is kept or discarded")
    known_as = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    content_sha256 = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="of a JSON report: what it says, however it is written",
    )
    kept_at = models.DateTimeField(null=True)
    left_out = models.JSONField(
        default=list, help_text="[{format, number, digest, span, told, words}]: runs that somebody did not keep"
    )

    objects: ClassVar[Any] = LabManager.from_queryset(FileQuerySet)()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["upload", "state"], name="uploaded_file_state"),
            models.Index(fields=["content_sha256"], condition=~Q(content_sha256=""), name="uploaded_file_content"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("uploaded-file", args=[self.upload_id, self.pk])

    @property
    def is_another_form(self) -> bool:
        """Return whether it says the same as the file that it is known as, in other bytes."""
        return bool(self.known_as_id and self.known_as and self.known_as.artefact_id != self.artefact_id)

    @property
    def place(self) -> tuple[int | None, int | None]:
        """Return (host id, target id): chosen for this file, else for the upload, else guessed."""
        is_chosen = bool(self.host_id and not self.guessed)
        if self.upload.host_id and not is_chosen:
            return self.upload.host_id, self.upload.target_id
        return self.host_id, self.target_id

    @property
    def reading(self) -> FileReading | None:
        """Return what was recognised in the file; None once it is kept as runs."""
        return _unpacked(bytes(self.packed)) if self.packed is not None else None

    @reading.setter
    def reading(self, result: FileReading | None) -> None:
        self.packed = zlib.compress(msgspec.msgpack.encode(result), 1) if result is not None else None


def _unpacked(data: bytes) -> FileReading:
    return msgspec.msgpack.decode(zlib.decompress(data), type=FileReading)


class UploadedRun(ThroughParent):
    """Which place in which file a run was read from; so that it can be read again when a parser improves."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="uploaded_from")
    file = models.ForeignKey(UploadedFile, on_delete=models.PROTECT, related_name="runs")
    format = models.CharField(max_length=40)
    number = models.PositiveIntegerField(help_text="which of the format's runs in the file, from 0")
    digest = models.CharField(max_length=64, help_text="SHA-256 of what was read, to see what a better parser changes")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "format", "number"], name="uploaded_run_once")]

    def __str__(self) -> str:
        return f"{self.file} {self.number}"


class TableMapping(LabScoped):
    """How somebody read a table of this look: offered again for the next one."""

    signature = models.CharField(max_length=64)
    mapping = models.JSONField()
    used_by = models.CharField(max_length=200, blank=True)
    used_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "signature"], name="mapping_once_per_lab")]

    def __str__(self) -> str:
        return self.signature[:12]


class FoundInventory(ThroughParent):
    """The output of a tool that describes a machine, found in an upload and offered to the inventory."""

    class State(models.TextChoices):
        OFFERED = "offered", "offered"
        TAKEN = "taken", "taken"
        DECLINED = "declined", "declined"

    lab_path: ClassVar[str] = "file__upload__lab_id"

    file = models.ForeignKey(UploadedFile, on_delete=models.CASCADE, related_name="inventory")
    tool = models.CharField(max_length=40)
    summary = models.CharField(max_length=300)
    content = models.JSONField()
    line = models.PositiveIntegerField(null=True)
    last_line = models.PositiveIntegerField(null=True)
    printed_host = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OFFERED)
    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, related_name="found_inventory")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.summary


class FoundWorkload(ThroughParent):
    """A fio job file found in an upload: something to run, offered in the start form."""

    lab_path: ClassVar[str] = "file__upload__lab_id"

    file = models.ForeignKey(UploadedFile, on_delete=models.CASCADE, related_name="workloads")
    name = models.CharField(max_length=200)
    jobs = models.JSONField()
    refused = models.JSONField(
        default=list, help_text="[{message, line, found, expected}]: options Spindle does not run"
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name
