"""`./manage.py backup spindle.tar`: everything that an installation keeps, in one file, while it runs or not."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.labs.command_line import tell_of_data_folder
from bin._lib import backup
from bin._lib.console import Trouble
from bin._lib.layout import DataFolder


class Command(BaseCommand):
    help = "Write the database, artefacts, secret key and this machine's agent identity into one file. The product may run meanwhile."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, readable by its owner only: it holds the secret key")
        tell_of_data_folder(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        data = DataFolder(Path(settings.DATA_DIR))
        target = options["file"].absolute()
        try:
            with backup.database(data) as url:
                manifest = backup.back_up(data, url, target)
        except Trouble as trouble:
            raise CommandError(str(trouble)) from None
        self.stdout.write(f"{target}: {manifest.summary()}, as of {manifest.made_at}.")
