"""What became of an import from the disk, in lines for a terminal or a log, and whether that is a success."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from django.db.models import Q

from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.named_hosts import named_hosts
from apps.uploads.on_disk import Named

KNOWN = 50  # named; the others are counted
NAMES = 10  # of hosts
_BROKEN = 5  # runs of one file


class ImportReport:
    """`given`: the options that change nothing of runs that are here already; `joined`: what became of these otherwise."""

    def __init__(self, upload_id: int, named: Named, given: Sequence[str], joined: str = "") -> None:
        self.upload: Any = Upload.objects.with_counts().get(pk=upload_id)
        self.named, self.given, self.joined = named, given, joined
        self.files = UploadedFile.objects.filter(upload=upload_id)

    @cached_property
    def known(self) -> int:
        return int(self.files.filter(state=FileState.KNOWN).count())

    @property
    def failure(self) -> str:
        """Why this is no success; empty where it is one. Bytes that are here can be read again, others may be lost."""
        if not self.upload.has_ended:
            return self.upload.problem or f"Upload {self.upload.pk} is still {self.upload.get_state_display()}."
        if self.named.unreadable:
            return f"Not everything could be read from the disk: {len(self.named.unreadable)} of what was named are not here."
        found = Q(run_count__gt=0) | Q(inventory__isnull=False) | Q(workloads__isnull=False) | Q(state=FileState.KNOWN)
        if not self.files.filter(found).exists():
            return "No results were found in what was named. The bytes are kept."
        return ""

    def lines(self) -> Iterator[str]:
        found = self.upload
        known = f", {self.known} known files" if self.known else ""
        yield (
            f"Upload {found.pk}: {found.get_state_display()}; {found.file_count} files, {found.run_count} runs, "
            f"{found.sample_count} samples{known}."
        )
        for sentence in self.named.unreadable:
            yield f"  {sentence}"
        if self.named.left_out:
            yield f"  {self.named.left_out} links, pipes or devices inside folders were left out."
        yield from self._known_lines()
        yield from self._host_lines()
        for file in self._failed().light().iterator():
            for problem in [file.error] if file.error else file.broken[:_BROKEN]:
                yield f"  {problem_line(file.name, problem)}"
            if len(file.broken) > _BROKEN and not file.error:
                yield f"  {file.name}: {len(file.broken) - _BROKEN} more runs that could not be read"

    def _host_lines(self) -> Iterator[str]:
        """Names that nobody's host has, where that leaves something without one."""
        if nobodys := [one.name for one in named_hosts(self.upload) if one.is_a_name and one.known_id is None]:
            more = f" and {len(nobodys) - NAMES} more" if len(nobodys) > NAMES else ""
            yield (
                f"  The lab has no host called {', '.join(nobodys[:NAMES])}{more}: the upload's page asks which hosts they are."
            )

    def _failed(self) -> Any:
        return self.files.filter(state__in=(FileState.FAILED, FileState.REFUSED, FileState.PARTLY))

    def _known_lines(self) -> Iterator[str]:
        known = self.files.filter(state=FileState.KNOWN).light().select_related("known_as")
        for file in known.defer("packed", "known_as__packed")[:KNOWN]:
            yield f"  {file.name}: {_known_as(file)}"
        if self.known > KNOWN:
            yield f"  {self.known - KNOWN} more files are known."
        if self.joined:
            yield f"  {self.joined}"
        if self.given and known.exclude(known_as__upload=self.upload.pk).exists():
            yield f"  {', '.join(self.given)}: the runs of known files stay as they are."


def _known_as(file: UploadedFile) -> str:
    first = file.known_as
    if first is None:
        return "known"
    if first.upload_id == file.upload_id:
        return f"known, the same bytes as {first.name}"
    return f"known, kept before as {first.name} of upload {first.upload_id}"


def problem_line(name: str, problem: dict[str, Any]) -> str:
    """`milk.txt line 1: no format recognises this file; found 'buy milk', expected the output of …`"""
    where = f" line {problem['line']}" if problem.get("line") else ""
    found = f"; found {problem['found']!r}" if problem.get("found") else ""
    expected = f"{',' if found else ';'} expected {problem['expected']}" if problem.get("expected") else ""
    return f"{name}{where}: {problem['message']}{found}{expected}"
