"""Import of uploaded tool outputs that describe a machine (lscpu, smartctl, storcli …) into the inventory of a host.

One output is imported with `take`; all outputs of an upload whose host is certain with `preview_import` and
`import_all`. The preview does the import and rolls it back, so that it shows exactly what would change.
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

from apps.inventory.discovery.looks import command_above
from apps.inventory.discovery.readings import GATHERED, PARSERS
from apps.inventory.discovery.receive import MAX_BYTES, RefusedOutputsError, receive
from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.history.log import HistoryEntry, told
from apps.inventory.models import Change, Difference, Host, Target, ToolOutput
from apps.inventory.templatetags.differences import Shown, shown
from apps.inventory.vocabulary import Decision
from apps.parsers.core.registry import iterate_forms
from apps.parsers.core.source_text import SourceText
from apps.runs.artefacts.store import ArtefactStoreError
from apps.uploads.host_matching import Guesser
from apps.uploads.models import FoundInventory, Upload
from apps.uploads.review.source_lines import MOST_BYTES, head

State = FoundInventory.State


class NothingReadError(ValueError):
    """An output that can be read and has nothing for the inventory; the message says why."""


def take(output: FoundInventory, host: Host) -> str:
    """Import an output into a host's inventory and return a sentence about the result."""
    why = put(output, host)
    text = f"is in the inventory of {host} now" if why is None else f"is kept beside {host}{why}"
    return f"{output.summary} {text}."


def put(output: FoundInventory, host: Host) -> str | None:
    """Import an output into the inventory of a host.

    Returns:
        None where the inventory has it now; else why it is only stored beside the host, as the end of a sentence.
    """
    _decide(output, State.TAKEN, host)
    if output.tool not in PARSERS:
        return ""
    if Target.objects.filter(host=host, is_agents_own=True).exists():
        # an upload of unknown age must not replace what the agent saw today
        return f", whose agent reports its own {output.tool}"
    try:
        printed, argv = _readable(output)
        printed = _with_earlier(output, host, printed)
        receive(host, [{"tool": output.tool, "argv": argv, "exit_status": None, "stdout": printed, "stderr": ""}])
    except NothingReadError as error:
        return f"; nothing of it goes into the inventory: {error}"
    except (UnreadableError, RefusedOutputsError, ArtefactStoreError) as error:
        return f"; the inventory cannot read this form of it ({error})"
    return None


def _with_earlier(output: FoundInventory, host: Host, printed: str) -> str:
    """Return the output joined with the host's last one of the same tool, where outputs add up (disks, then volumes).

    Where both describe the same thing, the later one counts.
    """
    if output.tool not in GATHERED:
        return printed
    before = ToolOutput.objects.filter(host=host, tool=output.tool).order_by("-id").first()
    if before is None or printed.strip() in before.stdout:
        return before.stdout if before else printed
    together = f"{before.stdout.rstrip()}\n\n{printed}"
    return together if len(together.encode(errors="surrogatepass")) <= MAX_BYTES else printed


def decline(output: FoundInventory) -> None:
    _decide(output, State.DECLINED, None)


def _decide(output: FoundInventory, state: str, host: Host | None) -> None:
    output.state, output.host = state, host
    output.save(update_fields=["state", "host"])


def _readable(output: FoundInventory) -> tuple[str, list[str]]:
    """Return the first form of the text that the tool's parser accepts, without what a page or a log put around it.

    With it come the words of the command line above it; none where it is unknown, or where outputs add up and the text
    is that of several commands.

    Raises:
        UnreadableError: The parser accepts none.
        NothingReadError: It accepts one, in which is nothing for the inventory.
    """
    problems = []
    for printed, argv in _printed(output):
        try:
            reading = PARSERS[output.tool](printed)
        except UnreadableError as error:
            problems.append(error)
        else:
            if reason := getattr(reading, "empty_because", ""):
                raise NothingReadError(reason)
            return printed, [] if output.tool in GATHERED or _is_cut(output) else argv
    raise problems[-1]


def _is_cut(output: FoundInventory) -> bool:
    """Return whether rows of the output or behind it could not be read, so that what it lists is not all."""
    first, last = output.line or 0, (output.last_line or output.line or 0) + _NEAR
    lines = [
        problem.get("line") or 0 for problem in output.file.broken if f"{output.tool}:" in problem.get("message", "")
    ]
    return any(first <= line <= last for line in lines)


def _printed(output: FoundInventory) -> list[tuple[str, list[str]]]:
    """Return the output's lines, and the command line above them, in each form in which the text may be written.

    Raises:
        UnreadableError: The lines are behind the first `MOST_BYTES` of a huge file, which no web process loads.
    """
    assert output.file.artefact
    text = SourceText(head(output.file.artefact), output.file.name)
    last = output.last_line or output.line
    read = text.number(len(text.lines) - 1) if text.lines else 0
    if output.file.size > MOST_BYTES and (last is None or last > read):
        beyond = f"an output that goes on behind the first {MOST_BYTES >> 20} MiB of its file"
        raise UnreadableError(output.tool, beyond, "a file of its own")
    if output.line is None or last is None:
        return [(form.text, []) for form in iterate_forms(text)]
    return [_lines(form, output.line, last, output.tool) for form in iterate_forms(text)]


def _lines(text: SourceText, first: int, last: int, tool: str) -> tuple[str, list[str]]:
    indices = [index for index in range(len(text.lines)) if first <= text.number(index) <= last]
    argv = command_above(text.lines, indices[0], tool) if indices else []
    return "\n".join(text.lines[index] for index in indices) + "\n", argv


_NEAR = 3  # lines behind an output that may belong to it
MOST = 50  # taken by one request: each is read into the inventory, and shown before


@dataclass(frozen=True)
class Offers:
    """`sure`: (what was found, its host's id), in the order of the upload; `others`: how many a person must say more about."""

    sure: tuple[tuple[FoundInventory, int], ...]
    others: int

    @property
    def next(self) -> tuple[tuple[FoundInventory, int], ...]:
        """Return the outputs that one request imports."""
        return self.sure[:MOST]

    @property
    def later(self) -> int:
        return max(0, len(self.sure) - MOST)


def offers_of(upload: Upload) -> Offers:
    outputs = FoundInventory.objects.filter(file__upload=upload, state=FoundInventory.State.OFFERED)
    every = outputs.select_related("file__artefact").defer("content", "file__packed", "file__left_out").order_by("id")
    guesser = Guesser(upload)
    hosts = [(item, sure_host(item, upload, guesser)) for item in every]
    sure = tuple((item, host) for item, host in hosts if host is not None)
    return Offers(sure, len(hosts) - len(sure))


def likely_host(output: FoundInventory, upload: Upload, guesser: Guesser) -> int | None:
    """Return the id of the host to propose: the one that a person chose, else the printed name's, else the file's guess."""
    output.file.upload = upload
    named = guesser.host_named(output.printed_host) if output.printed_host else None
    chosen = output.file.place[0] or output.host_id
    return chosen if _is_said(output, upload) else named or chosen


def sure_host(output: FoundInventory, upload: Upload, guesser: Guesser) -> int | None:
    """Return the id of the host if it is certain, or None: the text names another host, or one that nobody knows."""
    likely = likely_host(output, upload, guesser)
    if not output.printed_host:
        return likely
    named = guesser.host_named(output.printed_host)
    chosen = output.file.place[0] or output.host_id
    if named is None:
        return likely if _is_said(output, upload) else None
    return likely if chosen in (None, named) else None


def _is_said(output: FoundInventory, upload: Upload) -> bool:
    """Return whether a person chose the host."""
    return bool(upload.host_id or (output.file.host_id and not output.file.guessed))


Pieces = Sequence[tuple[FoundInventory, int]]


@dataclass(frozen=True)
class OfHost:
    """`taken`: each description, and a word about it where it does not go into the inventory.

    `differences`: where a person typed something else, which stays.
    """

    host: Host
    taken: tuple[tuple[FoundInventory, str], ...]
    entries: Sequence[HistoryEntry]
    differences: Sequence[Shown]


@dataclass(frozen=True)
class ImportOutcome:
    hosts: Sequence[OfHost]
    offers: Offers

    @property
    def pieces(self) -> int:
        return sum(len(host.taken) for host in self.hosts)

    @property
    def digest(self) -> str:
        """Return a hash of what is imported and what it changes, without ids and times of new rows."""
        sentences = [
            [
                host.host.pk, [[result.pk, words] for result, words in host.taken],
                [[e.kind_word, e.change.part_name, e.change.act, [[x.label, x.before] for x in e.lines]] for e in host.entries],
                [[d.difference.part_name, d.difference.field, d.difference.typed] for d in host.differences],
            ]
            for host in self.hosts
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(sentences, default=str).encode()).hexdigest()


class StaleImportError(Exception):
    """Something else would change than what was shown. Nothing was done."""

    def __init__(self, outcome: ImportOutcome) -> None:
        super().__init__("What would change is not what was shown before; look again.")
        self.outcome = outcome


def preview_import(upload: Upload) -> ImportOutcome:
    with transaction.atomic():
        outcome = _taken(upload)
        transaction.set_rollback(True)
    return outcome


def import_all(upload: Upload, digest: str) -> ImportOutcome:
    with transaction.atomic():
        outcome = _taken(upload)
        if is_stale := outcome.digest != digest:
            transaction.set_rollback(True)
    if is_stale:
        raise StaleImportError(outcome)
    return outcome


def _taken(upload: Upload) -> ImportOutcome:
    on_offer = FoundInventory.objects.filter(file__upload=upload, state=FoundInventory.State.OFFERED)
    list(
        on_offer.select_for_update(of=("self",)).order_by("id").values_list("pk")
    )  # a file that is read again waits, or has them made anew
    offers = offers_of(upload)
    by_host = sorted(offers.next, key=itemgetter(1))  # stable: of one host in the order of the upload
    hosts = {host.pk: host for host in Host.objects.filter(lab=upload.lab_id, pk__in={pk for _, pk in by_host})}
    groups = groupby(by_host, itemgetter(1))
    return ImportOutcome([_of_host(hosts[pk], list(pieces)) for pk, pieces in groups if pk in hosts], offers)


def _of_host(host: Host, pieces: Pieces) -> OfHost:
    before = Change.objects.order_by("-id").values_list("id", flat=True).first() or 0
    known = {item.pk: (item.typed, item.discovered) for item in _open(host)}
    with pghistory.context() as context:
        whys = [(piece, put(piece, host)) for piece, _ in pieces]
    taken = tuple((result, "" if why is None else f"only kept beside {host}{why}") for result, why in whys)
    changes = Change.objects.filter(lab=host.lab_id, pk__gt=before, together=context.id)
    differences = [shown(item) for item in _open(host) if known.get(item.pk) != (item.typed, item.discovered)]
    return OfHost(host, taken, told(changes.order_by("part_kind", "part_name", "part_id", "-id")), differences)


def _open(host: Host) -> Any:
    differences = Difference.objects.filter(host=host, decision=Decision.OPEN)
    return differences.order_by("part_kind", "part_name", "field", "id")
