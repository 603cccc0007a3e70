"""Which host and target a file's results belong to, when nobody said so: a guess with its reason, for a person to
confirm.

In this order: a host of the lab whose name stands in the text; one whose name is a part of the path; what somebody
chose for the newest kept file that printed the same host name, or that lay in the same folder.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from django.db.models import Q

from apps.inventory.models import Target
from apps.lib.sql import rows
from apps.uploads.models import Upload, UploadedFile


@dataclass(frozen=True)
class Guess:
    host_id: int | None = None
    target_id: int | None = None
    reason: str = ""


class Guesser:
    """For the files of one upload; asks the database a few times, however many files."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload
        self.earlier: dict[tuple[str, ...], Guess | None] = {}

    @cached_property
    def hosts(self) -> dict[str, int]:
        """By full and by short name, in small letters."""
        known = rows("SELECT name, id FROM inventory_host WHERE lab_id = %(lab)s", {"lab": self.upload.lab_id})
        return {_short(name): pk for name, pk in known} | {name.lower(): pk for name, pk in known}

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
            return Guess()  # a person must say which run is whose
        found = self._by_print(printed) or self._by_path(name) or self._by_earlier(name, printed)
        if found is None or found.host_id is None or found.target_id:
            return found or Guess()
        return Guess(found.host_id, self._target(found.host_id, printed_targets), found.reason)

    def _by_print(self, printed: list[str]) -> Guess | None:
        known = {self.hosts[word.lower()]: word for word in printed if word.lower() in self.hosts}
        if len(known) != 1:
            return None
        pk, word = next(iter(known.items()))
        return Guess(pk, None, f"the text says {word}")

    def _by_path(self, name: str) -> Guess | None:
        folder, _, last = name.rpartition("/")
        for word in (*reversed(_words(last.lower())), *_folders(folder)):
            if word in self.hosts:
                return Guess(self.hosts[word], None, f"{word} is in the path")
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
        earlier = (
            UploadedFile.objects.filter(same, upload__lab_id=self.upload.lab_id, kept_at__isnull=False, host__isnull=False)
            .order_by("-id").light().first()
        )  # fmt: skip
        if earlier is None:
            return None
        return Guess(earlier.host_id, earlier.target_id, f"as {earlier.name} before")

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


def _short(name: str) -> str:
    return name.split(".")[0].lower()


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
