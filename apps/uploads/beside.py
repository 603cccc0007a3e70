"""What lies beside fio's logs of latencies and says which fio wrote them: its reports, in the same upload.

    beside = Beside(upload_id)
    beside.of("results.tar/raid5/job_clat.1.log")     # ("2.1.10", "out.json"), or ("", "") where nothing says it

The nearest folder that has reports in it, or anywhere below it, decides; where fios of both units are there, nobody does.
Such logs are read last, when the reports of their upload are known (`parsing.py`).
"""

import re
from functools import cached_property
from pathlib import PurePosixPath

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from apps.parsers.fio_log_units import MAYBE, writes_ns
from apps.parsers.fio_logs import NAME as FIO_LOG
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.sandbox.parent import NOTHING
from apps.uploads.sandbox.parent import Beside as Said

_LOG = r"(^|[/_.-])[cs]?lat([._-][^/]*)?$"  # in Python's and in PostgreSQL's words
_IS_LOG = re.compile(_LOG, re.IGNORECASE)
LOGS = Q(name__iregex=_LOG)


def is_log(name: str) -> bool:
    """Whether a file of this name may be a log of latencies."""
    return _IS_LOG.search(name) is not None


class Beside:
    """The reports of one upload, asked for once, and not before there is a log that needs them."""

    def __init__(self, upload_id: int) -> None:
        self.upload_id = upload_id

    def of(self, name: str) -> Said:
        if not is_log(name):
            return NOTHING
        for folder in PurePosixPath(name).parents:
            if sides := self._reports.get(str(folder)):
                return next(iter(sides.values())) if len(sides) == 1 else NOTHING
        return NOTHING

    @cached_property
    def _reports(self) -> dict[str, dict[bool, Said]]:
        """Folder → whether ns → the first report in it or below."""
        found: dict[str, dict[bool, Said]] = {}
        files = UploadedFile.objects.filter(upload=self.upload_id).annotate(
            wrote=Coalesce(F("known_as__tool"), F("tool")), version=Coalesce(F("known_as__tool_version"), F("tool_version"))
        )  # fmt: skip
        for name, version in files.filter(wrote="fio").order_by("id").values_list("name", "version").iterator():
            is_ns = writes_ns(version)
            if is_ns is None:
                continue
            path = PurePosixPath(name)
            for folder in path.parents:
                found.setdefault(str(folder), {}).setdefault(is_ns, (version, path.name))
        return found


def read_again(upload_id: int, beside: Beside) -> None:
    """Logs whose unit nothing told when they were read, and which wait for somebody: a report may have come meanwhile."""
    files = UploadedFile.objects.filter(
        LOGS, upload=upload_id, format=FIO_LOG, only="", kept_at=None, packed__isnull=False
    )
    doubtful = files.filter(state__in=(FileState.PARSED, FileState.PARTLY), warnings__icontains=MAYBE[:40])
    told = [pk for pk, name in doubtful.values_list("pk", "name") if beside.of(name) != NOTHING]
    files.filter(pk__in=told).update(state=FileState.WAITING)
