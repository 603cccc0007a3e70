"""The registry of what can be found, one entry per kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Model, QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.text import Truncator

from apps.comparison.models import SavedComparison
from apps.inventory.models import (
    Array,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    Nic,
    Snapshot,
    StoragePath,
    Switch,
    Target,
)
from apps.runs.models import Run, Workload
from apps.studies.models import Study
from apps.uploads.models import UploadedFile

HOST = ("host",)
LONGEST_CAPTION = 80


@dataclass(frozen=True)
class SearchKind:
    """`words`: the fields whose words are indexed, in the index's order.

    `keys`: those that identify: exact ones come first. `page`: the route of one; where there is none, the host's page.
    `listed`: the route of the list with `?q=`.
    """

    name: str
    title: str
    model: type[Model]
    words: tuple[str, ...]
    keys: tuple[str, ...] = ()
    detail: Callable[[Any], str] = lambda _: ""
    with_rows: tuple[str, ...] = ()
    page: str = ""
    listed: str = ""
    api: str = ""
    shown: Callable[[Any], str] = str
    is_found_by_hash: str = ""
    newest_first: bool = False
    address: Callable[[Any], str] | None = None

    def rows(self) -> QuerySet[Any]:
        queryset: QuerySet[Any] = self.model._default_manager.select_related(*self.with_rows)
        if self.model is Workload:
            queryset = queryset.annotate(newest_run=Max("runs"))
        return queryset.defer("content") if self.model is Snapshot else queryset

    def url_of(self, row: Any) -> str:
        if hasattr(row, "get_absolute_url"):
            return str(row.get_absolute_url())
        if self.address:
            return self.address(row)
        try:
            return reverse(self.page, args=[row.pk]) if self.page else self._host_page(row)
        except NoReverseMatch:
            return self._host_page(row)

    def _host_page(self, row: object) -> str:
        host = getattr(row, "host_id", None)
        return reverse("host", args=[host]) if host else reverse("hosts")

    @property
    def is_in_host(self) -> bool:
        """Return whether a part is also found by its host's name; runs have that name among their own words."""
        return self.with_rows == HOST and not self.newest_first

    @property
    def has_labels(self) -> bool:
        return "labels" in self.words


def _joined(*words: object) -> str:
    return ", ".join(str(word) for word in words if word)


def _called(value: object) -> str:
    return str(value() if callable(value) else value)


def _on_host(*fields: str) -> Callable[[Any], str]:
    def said(row: Any) -> str:
        what = " ".join(_called(getattr(row, name)) for name in fields)
        return _joined(what, f"on {row.host}" if row.host_id else "in no host")

    return said


def _run(run: Run) -> str:
    """Return the run's title with its caption, which is all that differs between many runs of a file."""
    place = f"on {run.host}" if run.host else run.facts.get("host", "")
    return _joined(
        run.tool, run.get_state_display(), place, Truncator(str(run.labels.get("caption", ""))).chars(LONGEST_CAPTION)
    )


def _run_of_workload(workload: Any) -> str:
    """Return the address of the newest run with the workload."""
    return reverse("run", args=[workload.newest_run]) if workload.newest_run else reverse("runs")


def _study(study: Study) -> str:
    return _joined(study.site, study.year)


def _snapshot(snapshot: Snapshot) -> str:
    return _joined(
        f"of {snapshot.facts['host']}" if snapshot.facts.get("host") else "", f"{snapshot.created_at:%Y-%m-%d}"
    )


KINDS: Sequence[SearchKind] = (
    SearchKind(
        "hosts", "Hosts", Host, ("name", "fqdn", "serial", "vendor", "model", "os", "kernel", "cpu_model", "role", "labels"),
        ("name", "fqdn", "serial"), lambda row: _joined(row.os, row.role), page="host", listed="hosts", api="hosts",
    ),
    SearchKind(
        "controllers", "Controllers", Controller,
        ("name", "vendor", "model", "model_behind", "serial", "address", "firmware", "labels"),
        ("name", "serial", "address"), _on_host("vendor", "model"), HOST, "controller", "controllers",
    ),
    SearchKind(
        "disks", "Disks", Disk, ("device_name", "vendor", "model", "serial", "wwn", "firmware", "enclosure", "labels"),
        ("serial", "wwn", "device_name", "model"), _on_host("vendor", "model", "serial"), HOST, "disk", "disks",
    ),
    SearchKind(
        "arrays", "Arrays", Array, ("name", "device_name", "round", "uuid", "software", "labels"),
        ("name", "device_name", "uuid"), _on_host("get_level_display"), HOST, "array", "arrays",
    ),
    SearchKind(
        "filesystems", "Filesystems", Filesystem, ("type", "mount_point", "device_name", "uuid", "labels"),
        ("mount_point", "device_name", "uuid"), _on_host("device_name"), HOST, "filesystem", "filesystems",
    ),
    SearchKind(
        "targets", "Targets", Target, ("name", "path", "labels"), ("name", "path"), _on_host("path"), HOST, "target",
        "targets", "targets", shown=lambda row: row.name,
    ),
    SearchKind(
        "nics", "NICs", Nic, ("name", "vendor", "model", "mac", "driver", "address", "labels"), ("name", "mac"),
        _on_host("vendor", "model", "mac"), HOST, "nic", "nics",
    ),
    SearchKind(
        "switches", "Switches", Switch, ("name", "vendor", "model", "labels"), ("name",),
        lambda row: _joined(row.vendor, row.model), page="switch", listed="switches",
    ),
    SearchKind(
        "enclosures", "Enclosures", Enclosure, ("name", "vendor", "model", "serial", "labels"), ("name", "serial"),
        _on_host("vendor", "model"), HOST, "enclosure", "enclosures",
    ),
    SearchKind("storage-paths", "Storage paths", StoragePath, ("name", "labels"), ("name",), _on_host(), HOST, "storage-path"),
    SearchKind(
        "runs", "Runs", Run, ("id", "tool", "tool_version", "facts>host", "facts>configuration", "labels"), (), _run, HOST,
        "run", "runs", "runs", newest_first=True,
    ),
    SearchKind(
        "studies", "Studies", Study, ("slug", "title", "title_english", "site", "year"), ("slug",), _study,
        address=lambda row: f"{reverse('runs')}?study={row.slug}",
    ),
    SearchKind(
        "uploads", "Uploads", UploadedFile, ("name",), ("name",),
        lambda row: _joined(
            f"in {row.upload}" if row.upload.name != row.name else "", "kept" if row.kept_at else row.get_state_display()
        ),
        ("upload",), "uploaded-file", is_found_by_hash="artefact__sha256",
    ),
    SearchKind(
        "snapshots", "Snapshots", Snapshot, (), (), _snapshot, page="snapshot", listed="snapshots", api="snapshots",
        is_found_by_hash="sha256",
    ),
    SearchKind(
        "comparisons", "Comparisons", SavedComparison, ("name",), ("name",), lambda row: f"by {row.created_by}",
        page="saved-comparison", api="comparisons",
    ),
    SearchKind(
        "workloads", "Workloads", Workload, ("tool", "spec"), (),
        lambda row: " + ".join(dict.fromkeys(str(job.get("rw", "")) for job in row.jobs)), is_found_by_hash="sha256", address=_run_of_workload,
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
