"""All descriptions of an upload whose host is sure, taken to their hosts in one act that is shown before.

what_if(upload)                       # what would change; nothing does
take_all(upload, digest)              # the same, if that is still what somebody saw; else `StaleError`

What would change is not computed: it is done, and taken back.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import pghistory
from django.db import transaction

from apps.inventory.editing.telling import Entry, told
from apps.inventory.models import Change, Difference, Host
from apps.inventory.templatetags.differences import Shown, shown
from apps.inventory.vocabulary import Decision
from apps.uploads.models import FoundInventory, Upload
from apps.uploads.offers import Offers, offers_of
from apps.uploads.taking import put

Pieces = Sequence[tuple[FoundInventory, int]]


@dataclass(frozen=True)
class OfHost:
    """`taken`: each description, and a word about it where it does not go into the inventory. `differences`: where a person typed
    something else, which stays.
    """

    host: Host
    taken: tuple[tuple[FoundInventory, str], ...]
    entries: Sequence[Entry]
    differences: Sequence[Shown]


@dataclass(frozen=True)
class Outcome:
    hosts: Sequence[OfHost]
    offers: Offers

    @property
    def pieces(self) -> int:
        return sum(len(one.taken) for one in self.hosts)

    @property
    def digest(self) -> str:
        """Of what is taken and of what it finds there; new rows have new numbers and times, so what they become is not in it."""
        said = [
            [
                one.host.pk, [[found.pk, words] for found, words in one.taken],
                [[e.kind_word, e.change.part_name, e.change.act, [[x.label, x.before] for x in e.lines]] for e in one.entries],
                [[d.difference.part_name, d.difference.field, d.difference.typed] for d in one.differences],
            ]
            for one in self.hosts
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()


class StaleError(Exception):
    """Something else would change than what was shown. Nothing was done."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("What would change is not what was shown before; look again.")
        self.outcome = outcome


def what_if(upload: Upload) -> Outcome:
    with transaction.atomic():
        outcome = _taken(upload)
        transaction.set_rollback(True)
    return outcome


def take_all(upload: Upload, digest: str) -> Outcome:
    with transaction.atomic():
        outcome = _taken(upload)
        if is_stale := outcome.digest != digest:
            transaction.set_rollback(True)
    if is_stale:
        raise StaleError(outcome)
    return outcome


def _taken(upload: Upload) -> Outcome:
    on_offer = FoundInventory.objects.filter(file__upload=upload, state=FoundInventory.State.OFFERED)
    list(
        on_offer.select_for_update(of=("self",)).order_by("id").values_list("pk")
    )  # a file that is read again waits, or has them made anew
    offers = offers_of(upload)
    by_host = sorted(offers.next, key=itemgetter(1))  # stable: of one host in the order of the upload
    hosts = {host.pk: host for host in Host.objects.filter(lab=upload.lab_id, pk__in={pk for _, pk in by_host})}
    groups = groupby(by_host, itemgetter(1))
    return Outcome([_of_host(hosts[pk], list(pieces)) for pk, pieces in groups if pk in hosts], offers)


def _of_host(host: Host, pieces: Pieces) -> OfHost:
    before = Change.objects.order_by("-id").values_list("id", flat=True).first() or 0
    known = {one.pk: (one.typed, one.discovered) for one in _open(host)}
    with pghistory.context() as context:
        whys = [(found, put(found, host)) for found, _ in pieces]
    taken = tuple((found, "" if why is None else f"only kept beside {host}{why}") for found, why in whys)
    changes = Change.objects.filter(lab=host.lab_id, pk__gt=before, together=context.id)
    differences = [shown(one) for one in _open(host) if known.get(one.pk) != (one.typed, one.discovered)]
    return OfHost(host, taken, told(changes.order_by("part_kind", "part_name", "part_id", "-id")), differences)


def _open(host: Host) -> Any:
    found = Difference.objects.filter(host=host, decision=Decision.OPEN)
    return found.order_by("part_kind", "part_name", "field", "id")
