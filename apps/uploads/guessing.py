"""Which host and target a file's results belong to, when nobody said so: a guess with its reason, for a person to
confirm.

In this order: a host of the lab whose name stands in the text; one whose name is a part of the path; what somebody
chose for the newest kept file, or for its whole upload, that printed the same host name, or that lay in the same folder.

A name and a host fit where they are the same, or where one of the two is the first label of the other (`vm` and
`vm.example.org`), and no other host of the lab fits as well. `vm.example.org` and `vm.example.net` are two machines.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from django.db.models import Q

from apps.inventory.models import Host, Target
from apps.lib.sql import rows
from apps.uploads.models import Upload, UploadedFile


@dataclass(frozen=True)
class Guess:
    host_id: int | None = None
    target_id: int | None = None
    reason: str = ""


class Guesser:
    """For the files of one upload; asks the database a few times, however many files."""

    def __init__(self, upload: Upload, hosts: Iterable[Host] | None = None) -> None:
        """`hosts`: the lab's, where they are at hand."""
        self.upload = upload
        if hosts is not None:
            self.hosts = {host.name.lower(): host.pk for host in hosts}
        self.earlier: dict[tuple[str, ...], Guess | None] = {}

    @cached_property
    def hosts(self) -> dict[str, int]:
        """By name, in small letters."""
        known = rows("SELECT name, id FROM inventory_host WHERE lab_id = %(lab)s", {"lab": self.upload.lab_id})
        return {name.lower(): pk for name, pk in known}

    @cached_property
    def full_names(self) -> dict[str, list[int]]:
        """The hosts with a domain in their name, by its first label."""
        found: dict[str, list[int]] = {}
        for name, pk in self.hosts.items():
            if label := _first_label(name):
                found.setdefault(label, []).append(pk)
        return found

    def host_named(self, word: str) -> int | None:
        """The one host that fits, or None."""
        name = word.lower()
        if name in self.hosts:
            return self.hosts[name]
        if label := _first_label(name):
            return self.hosts.get(label)
        fitting = self.full_names.get(name, [])
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def targets(self) -> dict[int, list[tuple[str, int]]]:
        """Each host's: (path, id)."""
        found: dict[int, list[tuple[str, int]]] = {}
        every = Target.objects.filter(lab_id=self.upload.lab_id).values_list("id", "host_id", "path")
        for pk, host_id, path in every:
            found.setdefault(host_id, []).append((path, pk))
        return found

    def look_up(self) -> None:
        """What a guess needs of every file that nobody has said a host of: now, while the child reads."""
        if not self.upload.host_id:
            _ = self.hosts

    def guess(self, name: str, printed_hosts: Iterable[str], printed_targets: Iterable[str]) -> Guess:
        printed = [one for one in printed_hosts if one]
        if len(set(printed)) > 1:
            return Guess()  # each run is its own host's (`of_run`), or a person says whose they all are
        found = self._by_print(printed) or self._by_path(name) or self._by_earlier(name, printed)
        if found is None or found.host_id is None or found.target_id:
            return found or Guess()
        return Guess(found.host_id, self._target(found.host_id, printed_targets), found.reason)

    def of_run(self, host: str, target: str) -> tuple[int | None, int | None]:
        """(host, target) of one run of a file whose runs print different hosts."""
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
        """The target with the longest path that a printed path lies in."""
        paths = [one for one in printed if one.startswith("/")]
        if not paths:
            return None
        fitting = [
            (len(path), pk)
            for path, pk in self.targets.get(host_id, [])
            if path.startswith("/") and any(one == path or one.startswith(path.rstrip("/") + "/") for one in paths)
        ]
        return max(fitting)[1] if fitting else None


def _first_label(name: str) -> str:
    """`vm` of `vm.example.org`; nothing of a name without a domain, and nothing of an address."""
    label, dot, _ = name.partition(".")
    return label if dot and not label.isdigit() else ""


@lru_cache(256)  # the files of an archive come folder by folder
def _folders(path: str) -> tuple[str, ...]:
    """Their names, the innermost first."""
    return tuple(part.lower() for part in reversed(PurePosixPath(path).parts))


@lru_cache(256)
def _folder(path: str) -> str:
    return str(PurePosixPath(path))


def _words(name: str) -> list[str]:
    """`host3_iozone.txt` → host3_iozone, host3, iozone: a file is often named after its host."""
    stem = name.rsplit(".", 1)[0]
    return [word for mark in "_.- " for word in stem.split(mark) if len(word) > 2] + [stem]
