"""Outputs of tools that describe a machine, found among uploads, go to a host: to its page, and into the inventory where
discovery reads the tool.
"""

from apps.inventory.discovery.printed import UnreadableError
from apps.inventory.discovery.receive import MAX_BYTES, RefusedOutputsError, receive
from apps.inventory.discovery.tools import GATHERED, PARSERS
from apps.inventory.models import Host, Target, ToolOutput
from apps.parsers.registry import looked_at
from apps.parsers.source_text import SourceText
from apps.runs.artefact_store import ArtefactStoreError
from apps.uploads.models import FoundInventory
from apps.uploads.source_lines import MOST_BYTES, head

State = FoundInventory.State


def take(found: FoundInventory, host: Host) -> str:
    """A sentence about what became of it."""
    why = put(found, host)
    said = f"is in the inventory of {host} now" if why is None else f"is kept beside {host}{why}"
    return f"{found.summary} {said}."


def put(found: FoundInventory, host: Host) -> str | None:
    """None where it is in the inventory now; else it is kept beside the host only, and this says why, as far as that needs a word."""
    _decide(found, State.TAKEN, host)
    if found.tool not in PARSERS:
        return ""
    if Target.objects.filter(host=host, is_agents_own=True).exists():
        # an upload of unknown age must not replace what the agent saw today
        return f", whose agent reports its own {found.tool}"
    try:
        printed = _readable(found)
        printed = _with_earlier(found, host, printed)
        receive(host, [{"tool": found.tool, "argv": [], "exit_status": 0, "stdout": printed, "stderr": ""}])
    except (UnreadableError, RefusedOutputsError, ArtefactStoreError) as error:
        return f"; the inventory cannot read this form of it ({error})"
    return None


def _with_earlier(found: FoundInventory, host: Host, printed: str) -> str:
    """A RAID tool's drives come in one file, its volumes in the next, and smartctl speaks of one drive at a time: they add up.

    Where two tell of the same thing, the later counts.
    """
    if found.tool not in GATHERED:
        return printed
    before = ToolOutput.objects.filter(host=host, tool=found.tool).order_by("-id").first()
    if before is None or printed.strip() in before.stdout:
        return before.stdout if before else printed
    together = f"{before.stdout.rstrip()}\n\n{printed}"
    return together if len(together.encode(errors="surrogatepass")) <= MAX_BYTES else printed


def decline(found: FoundInventory) -> None:
    _decide(found, State.DECLINED, None)


def _decide(found: FoundInventory, state: str, host: Host | None) -> None:
    found.state, found.host = state, host
    found.save(update_fields=["state", "host"])


def _readable(found: FoundInventory) -> str:
    """The tool's own lines, without what a page or a log put around them. Raises `UnreadableError`."""
    problems = []
    for printed in _printed(found):
        try:
            PARSERS[found.tool](printed)
        except UnreadableError as error:
            problems.append(error)
        else:
            return printed
    raise problems[-1]


def _printed(found: FoundInventory) -> list[str]:
    """The lines in each form in which the text is looked at. Raises `UnreadableError` where they stand deep in a
    huge file, which no web process holds whole.
    """
    assert found.file.artefact
    text = SourceText(head(found.file.artefact), found.file.name)
    last = found.last_line or found.line
    read = text.number(len(text.lines) - 1) if text.lines else 0
    if found.file.size > MOST_BYTES and (last is None or last > read):
        beyond = f"an output that goes on behind the first {MOST_BYTES >> 20} MiB of its file"
        raise UnreadableError(found.tool, beyond, "a file of its own")
    if found.line is None or last is None:
        return [shown.text for shown in looked_at(text)]
    return [_lines(shown, found.line, last) for shown in looked_at(text)]


def _lines(text: SourceText, first: int, last: int) -> str:
    lines = [line for index, line in enumerate(text.lines) if first <= text.number(index) <= last]
    return "\n".join(lines) + "\n"
