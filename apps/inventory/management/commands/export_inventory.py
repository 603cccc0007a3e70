from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.writers import json_pieces, zip_pieces
from apps.inventory.models import Host
from apps.labs.command_line import lab_named, tell_of_data_folder
from apps.labs.isolation import lab_scope


class Command(BaseCommand):
    help = "Write a lab's inventory, or one host's, as JSON or as a zip of CSV files."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--lab", required=True, help="short name or name")
        parser.add_argument("--host", default="", help="only what is in this host")
        tell_of_data_folder(parser)
        parser.add_argument("file", type=Path, help="what it ends with says the form: .json or .zip")

    def handle(self, *args: Any, **options: Any) -> None:
        lab, file = lab_named(options["lab"]), options["file"]
        forms = {".json": json_pieces, ".zip": zip_pieces}
        if file.suffix not in forms:
            raise CommandError(f"found a file name that ends with {file.suffix!r}, expected .json or .zip")
        with lab_scope(lab.pk):
            host = Host.objects.filter(name=options["host"]).first()
            if options["host"] and host is None:
                raise CommandError(f"There is no host {options['host']!r} in {lab}.")
        outgoing, beside = Outgoing(lab, host), file.with_name(f".{file.name}.part")
        try:
            with beside.open("wb") as out:
                out.writelines(forms[file.suffix](outgoing))
            beside.replace(file)  # the file is either complete or absent
        finally:
            beside.unlink(missing_ok=True)
        self.stdout.write(f"{file}: {outgoing.count} rows.")
