"""Which part of the lab a row of a file is, and which part a key in it means."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ObjectDoesNotExist

from apps.inventory.exchange.files import IncomingFile
from apps.inventory.exchange.keys import Keyring, key_of, wanted
from apps.inventory.exchange.registry import BY_MODEL, FileKind
from apps.inventory.exchange.values import ValueProblem
from apps.inventory.models import Part
from apps.labs.models import Lab


class Matching:
    """Which parts the rows of a file are; `named` are the file's names for its rows, `used` the keys that are taken."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.ring = lab, Keyring(lab)
        self.named: dict[tuple[str, str], Part] = {}
        self.used: dict[tuple[str, int], str] = {}
        self.taken: set[tuple[str, str]] = set()

    def known(self, incoming: IncomingFile, probe: Callable[[], Part]) -> tuple[str, Part | None]:
        """Return (key, the row that the incoming row is, or None for a new one).

        Looked up by the key in the file, else by what identifies the row, which `probe` makes.

        Raises:
            ValueProblem: if another row of the file is the same part.
        """
        kind, reported = incoming.kind, str(incoming.values.get("key") or "")
        row = self.ring.find(kind, reported) if reported else None
        if row is None:
            key = self._next(kind, probe())
            plain = key.partition("#")[0]
            row = (
                None
                if reported and reported != key and reported.partition("#")[0] == plain
                else self.ring.find(kind, key)
            )
            self.taken.add((kind.name, key))
        else:
            key = reported
        if row is not None and (before := self.used.get((kind.name, row.pk))):
            raise ValueProblem(key, f"another key: {before} is the same {kind.word}")
        if reported and (kind.name, reported) in self.named:
            raise ValueProblem(reported, "each key once in a file")
        return key, row

    def _next(self, kind: FileKind, probe: Part) -> str:
        plain = key = _identified(kind, probe)
        number = 1
        while (kind.name, key) in self.taken:
            number += 1
            key = f"{plain}#{number}"
        return key

    def note(self, incoming: IncomingFile, row: Part, key: str, is_new: bool) -> None:
        kind = incoming.kind
        self.used[kind.name, row.pk] = incoming.where
        if reported := str(incoming.values.get("key") or ""):
            self.named[kind.name, reported] = row
        if is_new:
            self.ring.add(kind, row)

    def refer(self, model: Any, key: Any, host: Any = None) -> Part:
        """Return the part that a key means: one of the file or of the lab, or one of `host` by its bare name.

        Raises:
            ValueProblem: if there is no such part.
        """
        kind = BY_MODEL[model]
        if not isinstance(key, str):
            raise ValueProblem(key, f"the key of a {kind.word}")
        local = key_of((host.name, key), slash_may_stay=False) if host is not None else key
        for name in (key, local):
            if result := self.named.get((kind.name, name)) or self.ring.find(kind, name):
                return result
        raise ValueProblem(key, f"the key of a {kind.word} in the file or in the lab")


def _identified(kind: FileKind, probe: Part) -> str:
    try:
        return wanted(kind, probe)
    except ObjectDoesNotExist:
        raise ValueProblem("nothing", f"the host that the {kind.word} is in") from None
