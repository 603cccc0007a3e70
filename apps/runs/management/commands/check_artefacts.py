"""`./manage.py check_artefacts`: that every kept file has the bytes that came. For after a restored backup or a doubtful disk."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.runs.artefacts.integrity import lost_artefacts


class Command(BaseCommand):
    help = "Read all kept files and compare them with their SHA-256. Changes nothing; ends with status 1 if one is lost or altered."

    def handle(self, *args: Any, **options: Any) -> None:
        count = 0
        for sentence in lost_artefacts():
            count += 1
            self.stderr.write(sentence)
        if count:
            raise CommandError(
                f"{count} file{'s' * (count != 1)} lost or altered. Put the folder back from a backup, or send them again."
            )
        self.stdout.write("Every kept file has the bytes that came.")
