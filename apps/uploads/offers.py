"""Descriptions of machines on offer, with the host that each is surely of; those of which that is not sure are taken one by one."""

from dataclasses import dataclass

from apps.uploads.guessing import Guesser
from apps.uploads.models import FoundInventory, Upload

MOST = 50  # taken by one request: each is read into the inventory, and shown before


@dataclass(frozen=True)
class Offers:
    """`sure`: (what was found, its host's id), in the order of the upload; `others`: how many a person must say more about."""

    sure: tuple[tuple[FoundInventory, int], ...]
    others: int

    @property
    def next(self) -> tuple[tuple[FoundInventory, int], ...]:
        """Those that one request takes."""
        return self.sure[:MOST]

    @property
    def later(self) -> int:
        return max(0, len(self.sure) - MOST)


def offers_of(upload: Upload) -> Offers:
    found = FoundInventory.objects.filter(file__upload=upload, state=FoundInventory.State.OFFERED)
    every = found.select_related("file__artefact").defer("content", "file__packed", "file__left_out").order_by("id")
    guesser = Guesser(upload)
    hosts = [(one, sure_host(one, upload, guesser)) for one in every]
    sure = tuple((one, host) for one, host in hosts if host is not None)
    return Offers(sure, len(hosts) - len(sure))


def likely_host(one: FoundInventory, upload: Upload, guesser: Guesser) -> int | None:
    """What the page proposes: a person's word, else the name that was printed, else the guess of the file."""
    one.file.upload = upload
    named = guesser.host_named(one.printed_host) if one.printed_host else None
    chosen = one.file.place[0] or one.host_id
    return chosen if _is_said(one, upload) else named or chosen


def sure_host(one: FoundInventory, upload: Upload, guesser: Guesser) -> int | None:
    """None where the text names another host than is proposed, or one that nobody knows and nobody spoke of."""
    likely = likely_host(one, upload, guesser)
    if not one.printed_host:
        return likely
    named = guesser.host_named(one.printed_host)
    chosen = one.file.place[0] or one.host_id
    if named is None:
        return likely if _is_said(one, upload) else None
    return likely if chosen in (None, named) else None


def _is_said(one: FoundInventory, upload: Upload) -> bool:
    """Whether a person said the host."""
    return bool(upload.host_id or (one.file.host_id and not one.file.guessed))
