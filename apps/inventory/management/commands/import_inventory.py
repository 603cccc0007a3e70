from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.inventory.exchange.files import FileError, read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.outcome import REFUSED, UNCHANGED, OutcomeEntry
from apps.labs.command_line import lab_named, tell_of_data_folder


class Command(BaseCommand):
    help = "Bring a file of inventory (JSON, CSV, or a zip of CSV files) into a lab. Says what would change; --apply does it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--lab", required=True, help="short name or name")
        parser.add_argument("--kind", default="", help="of a CSV file whose name does not say it: hosts, disks …")
        parser.add_argument("--apply", action="store_true", help="write what is not refused")
        tell_of_data_folder(parser)
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        lab, file = lab_named(options["lab"]), options["file"]
        try:
            rows = read(file.read_bytes(), file.name, options["kind"], most=None)
        except (OSError, FileError) as error:
            raise CommandError(str(error)) from None
        outcome = bring_in(lab, rows, f"import_inventory {file.name}") if options["apply"] else preview(lab, rows)
        for entry in outcome.entries:
            if entry.act != UNCHANGED:
                self.stdout.write(_line(entry))
        message = ", ".join(f"{count} {act}" for act, count in outcome.counts.items())
        self.stdout.write(
            f"{message}." if options["apply"] else f"Would be: {message}. Nothing was written; --apply does it."
        )


def _line(entry: OutcomeEntry) -> str:
    if entry.act == REFUSED:
        return f"{entry.where}: refused: " + "; ".join(
            f"{problem.field} {problem.sentence}".strip() for problem in entry.problems
        )
    changes = "; ".join(
        f"{change.label} {change.before_text or 'nothing'} → {change.after_text or 'nothing'}"
        for change in entry.changes
    )
    return f"{entry.where}: {entry.act} {entry.key}" + (f": {changes}" if entry.act == "changed" else "")
