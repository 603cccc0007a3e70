"""`./manage.py check_samples`: that every sample refers to what is there. The database does not check it with each row."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.runs.artefacts.integrity import broken_references


class Command(BaseCommand):
    help = "Prove that samples refer to runs, measures, points and artefacts that are there."

    def handle(self, *args: Any, **options: Any) -> None:
        if broken := list(broken_references()):
            raise CommandError("\n".join(broken))
        self.stdout.write("Every sample refers to what is there.")
