"""Host names that stand in the texts of an upload while nobody knows whose they are: shown with what they would decide, and answered by a
person, who adds the hosts or says which ones they are.

named_hosts(upload) -> [NamedHost]
answer(upload, [(NamedHost, host)]) -> Answered
"""

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.inventory.models import Host
from apps.lib.sql import rows
from apps.runs.models import Run
from apps.uploads.guessing import Guesser
from apps.uploads.models import FoundInventory, Upload, UploadedFile
from apps.uploads.moving import move_each

_OF_NOBODY = ("localhost", "(none)", "none", "unknown")
_NAMES = """
    SELECT said, count(*), bool_or(jsonb_array_length(printed_hosts) = 1)
    FROM uploads_uploadedfile, jsonb_array_elements_text(printed_hosts) AS said
    WHERE upload_id = %(upload)s AND host_id IS NULL AND kept_at IS NULL AND packed IS NOT NULL
    GROUP BY said"""
_MACHINES = """
    SELECT run.labels ->> 'machine', count(*)
    FROM uploads_uploadedrun AS place
    JOIN uploads_uploadedfile AS file ON file.id = place.file_id
    JOIN runs_run AS run ON run.id = place.run_id
    WHERE file.upload_id = %(upload)s AND run.host_id IS NULL AND run.origin = 'uploaded' AND run.labels ? 'machine'
    GROUP BY 1"""


@dataclass
class NamedHost:
    """`names`: one machine's, the fullest first. `files`: that wait without a host; `runs`: kept without one; `pieces`: descriptions of
    machines on offer. `known_id`: the host of the lab that has this name by now.
    """

    names: list[str]
    known_id: int | None = None
    files: int = 0
    runs: int = 0
    pieces: int = 0

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def is_a_name(self) -> bool:
        """Whether one would call a host so: not `localhost`, which every machine is to itself, and no address."""
        label = self.name.lower().partition(".")[0]
        try:
            ipaddress.ip_address(self.name)
        except ValueError:
            return label not in _OF_NOBODY
        return False


@dataclass(frozen=True)
class Answered:
    """How many files that wait, and kept runs, belong to a host now."""

    files: int
    runs: int


def named_hosts(upload: Upload) -> list[NamedHost]:
    """By name; nothing where somebody said the host of the whole upload."""
    if upload.host_id:
        return []
    found: dict[str, NamedHost] = defaultdict(lambda: NamedHost([]))
    guesser = Guesser(upload)
    of = {"upload": upload.pk}
    for name, count, is_alone in rows(_NAMES, of):
        if is_alone or guesser.host_named(name) is None:  # of several in one file, those that are known need no answer
            found[name].files = count
    for name, count in rows(_MACHINES, of):
        found[name].runs = count
    for name, count in _described(upload).items():
        if guesser.host_named(name) is None:
            found[name].pieces = count
    for name, one in found.items():
        one.names, one.known_id = [name], guesser.host_named(name)
    return sorted(_joined(found), key=lambda one: one.name)


def _described(upload: Upload) -> Counter[str]:
    """Those on offer without a host."""
    return Counter(_offered(upload).exclude(printed_host="").values_list("printed_host", flat=True))


def _offered(upload: Upload) -> Any:
    return FoundInventory.objects.filter(
        file__upload=upload, state=FoundInventory.State.OFFERED, host=None, file__host=None
    )


def _joined(found: dict[str, NamedHost]) -> Iterable[NamedHost]:
    """`vm` and `vm.example.org` are one, unless another full name begins with `vm` too."""
    full: dict[str, list[NamedHost]] = defaultdict(list)
    for name, one in found.items():
        if "." in name:
            full[name.lower().partition(".")[0]].append(one)
    for name, one in found.items():
        fuller = full.get(name.lower(), []) if "." not in name else []
        if len(fuller) == 1:
            other = fuller[0]
            other.names.append(name)
            other.files, other.runs, other.pieces = (
                other.files + one.files, other.runs + one.runs, other.pieces + one.pieces,
            )  # fmt: skip
        else:
            yield one


def answer(upload: Upload, answers: Sequence[tuple[NamedHost, Host]]) -> Answered:
    """The files that print no other host's name belong to the host from now on, and so do the runs that were kept without one."""
    hosts = {name: host for named, host in answers for name in named.names}
    files = _files_of(upload, hosts)
    for host, found in files.items():
        UploadedFile.objects.filter(pk__in=[pk for pk, _ in found]).update(host=host, target=None, guessed="")
    for named, host in answers:
        if named.pieces:  # the host is proposed where they are offered
            _offered(upload).filter(printed_host__in=named.names).update(host=host)
    kept = Run.objects.filter(uploaded_from__file__upload=upload, origin=Run.Origin.UPLOADED, host=None)
    moved = move_each(kept.filter(labels__machine__in=list(hosts)), lambda run: (hosts[run.labels["machine"]], None))
    return Answered(sum(is_waiting for found in files.values() for _, is_waiting in found), moved)


def _files_of(upload: Upload, hosts: Mapping[str, Host]) -> dict[Host, list[tuple[int, bool]]]:
    """(id, whether it waits) of the files without a host whose names are all one host's; nobody keeps one meanwhile."""
    found: dict[Host, list[tuple[int, bool]]] = {}
    files = UploadedFile.objects.filter(upload=upload, host=None).exclude(printed_hosts=[]).held()
    for pk, printed, kept_at in files.values_list("pk", "printed_hosts", "kept_at"):
        of = {hosts.get(name) for name in printed}
        if len(of) == 1 and (host := of.pop()):
            found.setdefault(host, []).append((pk, kept_at is None))
    return found
