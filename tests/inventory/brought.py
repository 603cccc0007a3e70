"""Texts as people bring them, read as an upload's outputs are read into the inventory, without a database."""

from types import SimpleNamespace
from typing import Any

from apps.inventory.discovery.looks import command_above
from apps.inventory.discovery.models import FoundArray, FoundDisk, FoundStorage
from apps.inventory.discovery.readings import GATHERED, Readings, read
from apps.inventory.discovery.storage.host_storage import Storage
from apps.parsers.core.source_text import SourceText
from apps.uploads.file_reader import FileReading, read_file


class BroughtText:
    """A text with what is read of it: the file, each tool's output with its command line, and the storage it tells of."""

    def __init__(self, data: str | bytes, name: str = "") -> None:
        self.source = SourceText(data, name)
        self.file: FileReading = read_file(SourceText(data, name))
        self.outputs: dict[str, Any] = {}
        for item in self.file.inventory:
            lines = [n for n in range(len(self.source.lines)) if item.line <= self.source.number(n) <= item.last_line]  # type: ignore[operator]
            printed = "\n".join(self.source.lines[n] for n in lines) + "\n"
            before = self.outputs.get(item.tool)
            argv = [] if item.tool in GATHERED else command_above(self.source.lines, lines[0], item.tool)
            printed = f"{before.stdout}\n\n{printed}" if before and item.tool in GATHERED else printed
            self.outputs[item.tool] = SimpleNamespace(
                tool=item.tool, argv=argv, exit_status=0, stdout=printed, stderr=""
            )
        self.readings: Readings = read(self.outputs.values())
        self.storage: FoundStorage = Storage(self.readings, {}).found(())

    @property
    def disks(self) -> dict[str, FoundDisk]:
        return {one.key: one for one in self.storage.disks}

    @property
    def arrays(self) -> dict[str, FoundArray]:
        return {one.name: one for one in self.storage.arrays}

    def members(self, name: str) -> list[tuple[str, str, str]]:
        """Return (disk or array, partition, state) of each member of an array."""
        return [(one.layer.name, one.partition, one.state) for one in self.arrays[name].members]
