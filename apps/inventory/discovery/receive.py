"""Outputs that a host's agent sends: kept verbatim, then read into the inventory."""

import hashlib
import json
import logging
import re
from typing import Any

from django.db import transaction

from apps.inventory.discovery.rebuild import newest_outputs, rebuild, waiting_for
from apps.inventory.models import Host, ToolOutput
from apps.labs.isolation import lab_scope

MAX_OUTPUTS = 40  # in one message
MAX_BYTES = 4 * 1024 * 1024  # of one output
MAX_TOOLS = 100  # kept for one host; an agent cannot fill the database with names of its own
KEPT_PER_TOOL = 200
_TOOL = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_log = logging.getLogger(__name__)


class RefusedOutputsError(ValueError):
    """The message is not a list of outputs; nothing of it was stored."""

    def __init__(self, where: str, found: object, expected: str) -> None:
        super().__init__(f"{where}: found {str(found)[:120]!r}, expected {expected}")


def receive(host: Host, outputs: list[dict[str, Any]]) -> list[ToolOutput]:
    """Store each output that differs from the newest of its tool, rebuild the inventory and return what was stored.

    Each of `outputs` is `{"tool", "argv", "exit_status", "stdout", "stderr"}`. NUL and lone surrogates, which
    PostgreSQL cannot hold, become U+FFFD; the SHA-256 is that of argv, status and texts as they came.

    Raises:
        RefusedOutputsError: if `outputs` is not of this shape.
    """
    rows = [_row(host, place, output) for place, output in enumerate(_checked_list(outputs))]
    with lab_scope(host.lab_id):
        stored = _store(host, rows)
        _read(host)
    return stored


def _read(host: Host) -> None:
    """Rebuild the inventory from the outputs, which are stored by now.

    An error in reading them is ours and sending them again would not help, so it is noted on the host.
    """
    try:
        rebuild(host)
        for other in waiting_for(host):
            rebuild(other)
    except Exception as error:
        _log.exception("The inventory of %s could not be rebuilt from its tool outputs", host)
        host.reading_problem = f"it arrived, but could not be read: {type(error).__name__}: {str(error)[:300]}"


def _checked_list(outputs: object) -> list[Any]:
    if not isinstance(outputs, list) or len(outputs) > MAX_OUTPUTS:
        found = f"{len(outputs)} outputs" if isinstance(outputs, list) else type(outputs).__name__
        raise RefusedOutputsError("outputs", found, f"a list of at most {MAX_OUTPUTS}")
    return outputs


def _row(host: Host, place: int, output: object) -> ToolOutput:
    where = f"outputs[{place}]"
    if not isinstance(output, dict):
        raise RefusedOutputsError(where, type(output).__name__, "an object")
    tool = output.get("tool")
    if not isinstance(tool, str) or not _TOOL.fullmatch(tool):
        raise RefusedOutputsError(f"{where}.tool", tool, "a name such as lsblk")
    stdout, stderr = (_text(f"{where}.{key}", output.get(key, "")) for key in ("stdout", "stderr"))
    argv = _argv(f"{where}.argv", output.get("argv", []))
    status = _status(f"{where}.exit_status", output.get("exit_status"))
    digest = hashlib.sha256(json.dumps([argv, status, stdout, stderr]).encode()).hexdigest()
    return ToolOutput(
        lab_id=host.lab_id, host=host, tool=tool, argv=[_storable(word) for word in argv], exit_status=status,
        stdout=_storable(stdout), stderr=_storable(stderr), sha256=digest,
    )  # fmt: skip


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise RefusedOutputsError(where, type(value).__name__, "text")
    if len(value) > MAX_BYTES or len(value.encode(errors="surrogatepass")) > MAX_BYTES:
        raise RefusedOutputsError(where, f"{len(value)} characters", f"at most {MAX_BYTES} bytes")
    return value


def _argv(where: str, value: object) -> list[str]:
    if not isinstance(value, list) or len(value) > 100 or not all(isinstance(w, str) and len(w) <= 4096 for w in value):
        raise RefusedOutputsError(where, value, "a list of at most 100 words")
    return value


def _status(where: str, value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31):
        return value
    raise RefusedOutputsError(where, value, "an exit status or null")


def _storable(text: str) -> str:
    return _NOT_STORABLE.sub("\ufffd", text)


def _store(host: Host, rows: list[ToolOutput]) -> list[ToolOutput]:
    with transaction.atomic():
        Host.objects.select_for_update(no_key=True).get(pk=host.pk)  # serialises the messages of one host
        newest = dict(newest_outputs(host).values_list("tool", "sha256"))
        fresh = []
        for row in rows:
            is_welcome = row.tool in newest or len(newest) < MAX_TOOLS
            if is_welcome and newest.get(row.tool) != row.sha256:
                newest[row.tool] = row.sha256
                fresh.append(row)
        stored: list[ToolOutput] = ToolOutput.objects.bulk_create(fresh)
        _forget_old(host, {row.tool for row in stored})
    return stored


def _forget_old(host: Host, tools: set[str]) -> None:
    """Delete outputs beyond the newest few of each tool; runs keep their evidence in their snapshots."""
    for tool in tools:
        of_tool = ToolOutput.objects.filter(host=host, tool=tool).order_by("-id")
        if oldest_kept := of_tool.values_list("id", flat=True)[KEPT_PER_TOOL - 1 : KEPT_PER_TOOL].first():
            of_tool.filter(id__lt=oldest_kept).delete()
