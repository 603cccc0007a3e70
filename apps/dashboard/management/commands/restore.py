"""`./manage.py restore spindle.tar --data DIR`: a backup into a new data folder; then start it with `bin/up --data DIR`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.migrations.loader import MigrationLoader

from apps.labs.command_line import tell_of_data_folder
from bin._lib import backup
from bin._lib.console import Trouble
from bin._lib.layout import DataFolder


class Command(BaseCommand):
    help = "Bring a backup back into a new data folder, compare every file and the rows of every table, and say what to start."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what ./manage.py backup wrote")
        tell_of_data_folder(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        data = DataFolder(Path(settings.DATA_DIR))
        try:
            refuse_newer(backup.read_manifest(options["file"]))
            manifest = backup.restore(options["file"], data)
        except Trouble as trouble:
            raise CommandError(str(trouble)) from None
        self.stdout.write(f"{data.path}: {manifest.summary()}, as of {manifest.made_at}; all are as they were.")
        self.stdout.write(f"Start it with bin/up --data {data.path}")


def refuse_newer(manifest: backup.Manifest) -> None:
    """Raise Trouble where a newer Spindle made the backup: this one would not know its tables."""
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if unknown := [name for name in manifest.migrations if name not in known]:
        raise Trouble(f"The backup was made by a newer Spindle (migration {unknown[0]}); restore it with that one.")
