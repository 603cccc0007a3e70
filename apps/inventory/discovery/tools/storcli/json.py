"""storcli and perccli `J` (Broadcom's StorCLI 1.x and 7.x, Dell's perccli): any `show` command.

    "Command Status" : { "CLI Version" : "007.1017.0000.0000 May 10, 2019", "Controller" : 0, "Status" : "Success", … }

Source: StorCLI's reference manual (JSON output). Content: one controller's `Command Status` and `Response Data` as they
are; a failure may have no `Response Data`, its sections' names differ by command (`VD LIST`, `Virtual Drives`,
`/c0/v0`) and `Virtual Drives` is a count or a list. The document does not say which of the two programs printed it.
"""

import re
from collections.abc import Iterator
from typing import Any

from apps.inventory.discovery.tool_output import Content, count, inventory, json_values, whole
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

NAME = "storcli json"
TITLE = "storcli, perccli: JSON"
TOOL = "storcli"
_LIKE = re.compile(r'"Controllers"\s*:\s*\[')
_NAMES = ("Product Name", "Model")


def looks_like(text: SourceText) -> float:
    return 1.0 if '"Command Status"' in text.text and _LIKE.search(text.text) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found: list[ParsedInventory] = []
    broken: list[Broken] = []
    for block, value in json_values(text, broken) if looks_like(text) else ():
        found += [inventory(text, TOOL, block, summary(one), one) for one in _controllers(value)]
    return whole(text, TOOL, found, broken, 'a JSON object with "Controllers"')


def _controllers(value: Content | list[Any]) -> Iterator[Content]:
    listed = value.get("Controllers") if isinstance(value, dict) else None
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and isinstance(one.get("Command Status"), dict):
            yield one


def summary(controller: Content) -> str:
    """Summarise a controller's output, JSON or text: `controller 0: AVAGO 3108 MegaRAID, 1 virtual drive`."""
    status = controller["Command Status"]
    number = status.get("Controller")
    data = controller.get("Response Data")
    parts = []
    if isinstance(data, dict):
        basics = data.get("Basics")
        about = {**data, **(basics if isinstance(basics, dict) else {})}
        parts = [str(about[key]) for key in _NAMES if about.get(key)][:1]
        parts += [listed for what in ("Virtual Drives", "Physical Drives") if (listed := _drives(about, what))]
        topology = data.get("TOPOLOGY")
        if not parts and isinstance(topology, list):
            drives = sum(isinstance(row, dict) and row.get("Type") == "DRIVE" for row in topology)
            parts = [f"topology with {count(drives, 'drive')}"]
    if status.get("Status", "Success") != "Success":
        parts.append(f"{status.get('Status')}: {status.get('Description')}")
    name = f"controller {number}: " if number is not None else ""
    return name + (", ".join(parts) or str(status.get("Status", "sections of its output")))


def _drives(about: Content, what: str) -> str:
    short = {"Virtual Drives": "VD LIST", "Physical Drives": "PD LIST"}[what]
    known = about.get(what, about.get(short))
    number = len(known) if isinstance(known, list) else known
    return count(number, what.lower().removesuffix("s")) if isinstance(number, int) else ""
