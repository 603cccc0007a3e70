"""Guesses at the host and target of uploaded results, answers for host names that are unknown, and reassignment of saved runs.

A guess is made, in this order, from: a host of the lab whose name stands in the text; a host whose name is a part of the
path; the host chosen for the newest saved file (or for its whole upload) that printed the same host name or lay in the
same folder. A person confirms it.

A name matches a host when both are equal, or when one is the first label of the other (`vm` and `vm.example.org`) and
no other host of the lab matches as well. `vm.example.org` and `vm.example.net` are different machines.

Only uploaded runs are reassigned: a run of an agent was made on the agent's host, and a published run is described by
its report.
"""

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KT

from apps.inventory.models import Host, Snapshot, Target
from apps.inventory.snapshots.content import describe
from apps.runs.facts import run_facts
from apps.runs.models import Run
from apps.runs.services import announce
from apps.uploads.models import FoundInventory, Upload, UploadedFile


@dataclass(frozen=True)
class Guess:
    host_id: int | None = None
    target_id: int | None = None
    reason: str = ""


class Guesser:
    """For the files of one upload; asks the database a few times, however many files."""

    def __init__(self, upload: Upload, hosts: Iterable[Host] | None = None) -> None:
        """Prepare guesses for the files of one upload; `hosts` are the lab's, where the caller has them."""
        self.upload = upload
        if hosts is not None:
            self.hosts = {host.name.lower(): host.pk for host in hosts}
        self.earlier: dict[tuple[str, ...], Guess | None] = {}

    @cached_property
    def hosts(self) -> dict[str, int]:
        """Return the ids of the lab's hosts by lower-case name."""
        known = Host.objects.filter(lab_id=self.upload.lab_id).values_list("name", "id")
        return {name.lower(): pk for name, pk in known}

    @cached_property
    def full_names(self) -> dict[str, list[int]]:
        """Return the ids of the hosts whose name has a domain, by the first label of the name."""
        result: dict[str, list[int]] = {}
        for name, pk in self.hosts.items():
            if label := _first_label(name):
                result.setdefault(label, []).append(pk)
        return result

    def host_named(self, word: str) -> int | None:
        """Return the id of the only host that matches a name, or None."""
        name = word.lower()
        if name in self.hosts:
            return self.hosts[name]
        if label := _first_label(name):
            return self.hosts.get(label)
        fitting = self.full_names.get(name, [])
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def targets(self) -> dict[int, list[tuple[str, int]]]:
        """Return (path, id) of the targets of each host, by the host's id."""
        result: dict[int, list[tuple[str, int]]] = {}
        every = Target.objects.filter(lab_id=self.upload.lab_id).values_list("id", "host_id", "path")
        for pk, host_id, path in every:
            result.setdefault(host_id, []).append((path, pk))
        return result

    def guess(self, name: str, printed_hosts: Iterable[str], printed_targets: Iterable[str]) -> Guess:
        printed = [host for host in printed_hosts if host]
        if len(set(printed)) > 1:
            return Guess()  # each run is its own host's (`of_run`), or a person says whose they all are
        result = self._by_print(printed) or self._by_path(name) or self._by_earlier(name, printed)
        if result is None or result.host_id is None or result.target_id:
            return result or Guess()
        return Guess(result.host_id, self._target(result.host_id, printed_targets), result.reason)

    def of_run(self, host: str, target: str) -> tuple[int | None, int | None]:
        """Return (host id, target id) for one run of a file whose runs print different hosts."""
        host_id = self.host_named(host) if host else None
        return host_id, self._target(host_id, [target]) if host_id else None

    def _by_print(self, printed: list[str]) -> Guess | None:
        known = {pk: word for word in printed if (pk := self.host_named(word)) is not None}
        if len(known) != 1:
            return None
        pk, word = next(iter(known.items()))
        return Guess(pk, None, f"the text says {word}")

    def _by_path(self, name: str) -> Guess | None:
        folder, _, last = name.rpartition("/")
        for word in (*reversed(_words(last.lower())), *_folders(folder)):
            if (pk := self.host_named(word)) is not None:
                return Guess(pk, None, f"{word} is in the path")
        return None

    def _by_earlier(self, name: str, printed: list[str]) -> Guess | None:
        key = _folder(name.rpartition("/")[0]), *sorted(set(printed))
        if key not in self.earlier:
            self.earlier[key] = self._earlier(*key)
        return self.earlier[key]

    def _earlier(self, folder: str, *printed: str) -> Guess | None:
        same = Q(printed_hosts__contains=list(printed)) if printed else Q()
        if folder != ".":
            same |= Q(name__startswith=f"{folder}/")
        if not same:
            return None
        is_known = Q(host__isnull=False) | Q(upload__host__isnull=False)
        earlier = (
            UploadedFile.objects.filter(same, is_known, upload__lab_id=self.upload.lab_id, kept_at__isnull=False)
            .order_by("-id").light().select_related("upload").first()
        )  # fmt: skip
        if earlier is None:
            return None
        host_id, target_id = earlier.place
        return Guess(host_id, target_id, f"as {earlier.name} before")

    def _target(self, host_id: int, printed: Iterable[str]) -> int | None:
        """Return the id of the target whose path is the longest one that contains a printed path, or None."""
        paths = [item for item in printed if item.startswith("/")]
        if not paths:
            return None
        fitting = [
            (len(path), pk)
            for path, pk in self.targets.get(host_id, [])
            if path.startswith("/") and any(item == path or item.startswith(path.rstrip("/") + "/") for item in paths)
        ]
        return max(fitting)[1] if fitting else None


def _first_label(name: str) -> str:
    """Return `vm` for `vm.example.org`, and an empty string for a name without a domain or an IP address."""
    label, dot, _ = name.partition(".")
    return label if dot and not label.isdigit() else ""


@lru_cache(256)  # the files of an archive come folder by folder
def _folders(path: str) -> tuple[str, ...]:
    """Return the names of a path's folders in lower case, innermost first."""
    return tuple(part.lower() for part in reversed(PurePosixPath(path).parts))


@lru_cache(256)
def _folder(path: str) -> str:
    return str(PurePosixPath(path))


def _words(name: str) -> list[str]:
    """Split a file name into words that may be host names: `host3_iozone.txt` → host3, iozone, host3_iozone."""
    stem = name.rsplit(".", 1)[0]
    return [word for mark in "_.- " for word in stem.split(mark) if len(word) > 2] + [stem]


_AT_ONCE = 500
Labels = dict[str, str]


def runs_of(*files: int) -> QuerySet[Run]:
    """Return a queryset of the uploaded runs that were saved from these files."""
    runs: QuerySet[Run] = Run.objects.filter(uploaded_from__file__in=files, origin=Run.Origin.UPLOADED)
    return runs


def move(runs: QuerySet[Run], host: Host | None, target: Target | None) -> int:
    """Give runs this host and target, with a new snapshot and facts.

    Returns:
        How many runs were changed.
    """
    return move_each(runs, lambda run: (host, target))


def move_each(runs: QuerySet[Run], place: Callable[[Run], tuple[Host | None, Target | None]]) -> int:
    """Give each run the host and target that `place` returns for it, with a new snapshot and facts.

    Returns:
        How many runs were changed.
    """
    snapshots: dict[tuple[Host | None, Target | None], Snapshot | None] = {}

    def moved(run: Run) -> None:
        run.host, run.target = at = place(run)
        if at not in snapshots:
            snapshots[at] = describe(run.host, run.target) if run.host else None
        run.snapshot = snapshots[at]

    return _change(runs, moved, "host", "target", "snapshot")


def relabel(runs: QuerySet[Run], before: Labels, after: Labels) -> int:
    """Replace the labels `before` of runs by `after`; all other labels stay.

    Returns:
        How many runs were changed.
    """

    def relabelled(run: Run) -> None:
        run.labels = {name: value for name, value in run.labels.items() if before.get(name) != value} | after

    return _change(runs, relabelled, "labels")


def follow(file: UploadedFile, place: tuple[int | None, int | None], labels: Labels) -> int:
    """Update the saved runs of a file whose host, target or labels a person changed.

    Args:
        place: Ids of the host and target before the change.
        labels: The file's labels before the change.

    Returns:
        How many runs the file has.
    """
    runs = runs_of(file.pk)
    # where the place is the same, the snapshot stays: what the inventory says by now is not what was true then
    if file.place != place:
        _follow_place(file, runs)
    if file.labels != labels:
        relabel(runs, labels, {**file.upload.labels, **file.labels})
    return int(runs.count())


def _follow_place(file: UploadedFile, runs: QuerySet[Run]) -> None:
    host_id, target_id = file.place
    if host_id is None and len(file.printed_hosts) > 1:
        move_each(runs, _own_places(file.upload))
    else:
        move(runs, Host.objects.filter(pk=host_id).first(), Target.objects.filter(pk=target_id).first())


def _own_places(upload: Upload) -> Callable[[Run], tuple[Host | None, Target | None]]:
    """Return a function that finds the host and target that a run's own output names, for files that print several hosts."""
    guesser = Guesser(upload)
    hosts = {host.pk: host for host in Host.objects.filter(lab=upload.lab_id)}
    targets = {target.pk: target for target in Target.objects.filter(lab=upload.lab_id)}

    def own(run: Run) -> tuple[Host | None, Target | None]:
        host_id, target_id = guesser.of_run(run.labels.get("machine", ""), run.labels.get("path", ""))
        return hosts.get(host_id or 0), targets.get(target_id or 0)

    return own


def _change(runs: QuerySet[Run], change: Callable[[Run], None], *columns: str) -> int:
    ids = list(runs.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        with transaction.atomic():
            some = Run.objects.filter(pk__in=ids[start : start + _AT_ONCE]).select_related("workload", "snapshot")
            rows = list(some.select_for_update(of=("self",)).order_by("pk"))
            for run in rows:
                change(run)
                run.facts = run_facts(run)
            Run.objects.bulk_update(rows, [*columns, "facts"])
            for lab in {run.lab_id for run in rows}:
                announce(lab, [run.pk for run in rows])
    return len(ids)


_OF_NOBODY = ("localhost", "(none)", "none", "unknown")


@dataclass
class NamedHost:
    """`names`: one machine's, the fullest first.

    `files`: that wait without a host; `runs`: kept without one; `pieces`: descriptions of machines on offer.
    `known_id`: the host of the lab that has this name by now.
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
        """Return whether this can be the name of a host: neither `localhost` and the like nor an IP address."""
        label = self.name.lower().partition(".")[0]
        try:
            ipaddress.ip_address(self.name)
        except ValueError:
            return label not in _OF_NOBODY
        return False


@dataclass(frozen=True)
class AssignedCounts:
    """How many files that wait, and kept runs, belong to a host now."""

    files: int
    runs: int


def named_hosts(upload: Upload) -> list[NamedHost]:
    """Return the host names that files of the upload print and no host has, sorted.

    There are none where the upload has a host.
    """
    if upload.host_id:
        return []
    result: dict[str, NamedHost] = defaultdict(lambda: NamedHost([]))
    guesser = Guesser(upload)
    for name, (count, is_alone) in _printed(upload).items():
        if is_alone or guesser.host_named(name) is None:  # of several in one file, those that are known need no answer
            result[name].files = count
    for name, count in _machines(upload):
        result[name].runs = count
    for name, count in _described(upload).items():
        if guesser.host_named(name) is None:
            result[name].pieces = count
    for name, entry in result.items():
        entry.names, entry.known_id = [name], guesser.host_named(name)
    return sorted(_joined(result), key=lambda item: item.name)


def _printed(upload: Upload) -> dict[str, tuple[int, bool]]:
    """Return how many waiting files without a host print each name, and whether it is the only name in one of them."""
    waiting = UploadedFile.objects.filter(upload=upload, host=None, kept_at=None, packed__isnull=False)
    result: dict[str, tuple[int, bool]] = {}
    for names, count in waiting.order_by().values_list("printed_hosts").annotate(Count("pk")):
        for name in names:
            files, is_alone = result.get(name, (0, False))
            result[name] = files + count, is_alone or len(names) == 1
    return result


def _machines(upload: Upload) -> Iterable[tuple[str, int]]:
    """Return how many kept runs without a host say each name."""
    runs = Run.objects.filter(
        uploaded_from__file__upload=upload, host=None, origin=Run.Origin.UPLOADED, labels__has_key="machine"
    )
    rows: Iterable[tuple[str, int]] = runs.order_by().values_list(KT("labels__machine")).annotate(Count("pk"))
    return rows


def _described(upload: Upload) -> Counter[str]:
    """Return how many offered inventory outputs without a host print each host name."""
    return Counter(_offered(upload).exclude(printed_host="").values_list("printed_host", flat=True))


def _offered(upload: Upload) -> QuerySet[FoundInventory]:
    outputs: QuerySet[FoundInventory] = FoundInventory.objects.filter(
        file__upload=upload, state=FoundInventory.State.OFFERED, host=None, file__host=None
    )
    return outputs


def _joined(result: dict[str, NamedHost]) -> Iterable[NamedHost]:
    """Yield the names, with `vm` and `vm.example.org` joined unless another full name also begins with `vm.`."""
    full: dict[str, list[NamedHost]] = defaultdict(list)
    for name, item in result.items():
        if "." in name:
            full[name.lower().partition(".")[0]].append(item)
    for name, item in result.items():
        fuller = full.get(name.lower(), []) if "." not in name else []
        if len(fuller) == 1:
            other = fuller[0]
            other.names.append(name)
            other.files, other.runs, other.pieces = (
                other.files + item.files, other.runs + item.runs, other.pieces + item.pieces,
            )  # fmt: skip
        else:
            yield item


def answer(upload: Upload, answers: Sequence[tuple[NamedHost, Host]]) -> AssignedCounts:
    """Assign files, offered outputs and saved runs that print these names to the hosts that a person chose.

    Files that print the name of another host too are left alone.
    """
    hosts = {name: host for named, host in answers for name in named.names}
    files = _files_of(upload, hosts)
    for host, result in files.items():
        UploadedFile.objects.filter(pk__in=[pk for pk, _ in result]).update(host=host, target=None, guessed="")
    for named, host in answers:
        if named.pieces:  # the host is proposed where they are offered
            _offered(upload).filter(printed_host__in=named.names).update(host=host)
    runs = Run.objects.filter(uploaded_from__file__upload=upload, origin=Run.Origin.UPLOADED, host=None)
    moved = move_each(runs.filter(labels__machine__in=list(hosts)), lambda run: (hosts[run.labels["machine"]], None))
    return AssignedCounts(sum(is_waiting for file in files.values() for _, is_waiting in file), moved)


def _files_of(upload: Upload, hosts: Mapping[str, Host]) -> dict[Host, list[tuple[int, bool]]]:
    """Return, by host, (id, whether it waits to be saved) of files whose printed names all belong to it.

    The rows are locked.
    """
    result: dict[Host, list[tuple[int, bool]]] = {}
    files = UploadedFile.objects.filter(upload=upload, host=None).exclude(printed_hosts=[]).held()
    for pk, printed, kept_at in files.values_list("pk", "printed_hosts", "kept_at"):
        of = {hosts.get(name) for name in printed}
        if len(of) == 1 and (host := of.pop()):
            result.setdefault(host, []).append((pk, kept_at is None))
    return result
