"""`./manage.py check_ledger`: that dispatched runs were started at most once and are stored as their hosts sent them."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.plans.ledger import find_plan_breaks
from apps.runs.artefacts.ledger import compare_with_spool, find_ledger_breaks


class Command(BaseCommand):
    help = (
        "Check all attempts and the steps of all plans: started at most once, nothing forgotten, every stored byte as "
        "its host sent it. Changes nothing; ends with status 1 if something is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--spool",
            action="append",
            default=[],
            type=Path,
            metavar="FOLDER",
            help="an agent's folder (its --state) or a copy of it, compared with what is stored; may be given several times",
        )

    def handle(self, *args: Any, spool: list[Path], **options: Any) -> None:
        for folder in spool:
            if not (folder / "spool").is_dir():
                raise CommandError(f"{folder}: found no folder spool in it, expected an agent's --state folder.")
        sentences = [*find_ledger_breaks(), *find_plan_breaks()]
        sentences += [sentence for folder in spool for sentence in compare_with_spool(folder)]
        for sentence in sentences:
            self.stderr.write(sentence)
        if sentences:
            raise CommandError(f"{len(sentences)} break{'s' * (len(sentences) != 1)} of the ledger.")
        self.stdout.write("Every attempt was started at most once, and is stored as its host sent it.")
