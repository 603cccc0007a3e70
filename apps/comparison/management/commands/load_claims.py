from typing import Any

from django.core.management.base import BaseCommand

from apps.comparison.claims.report import load_all


class Command(BaseCommand):
    help = "Load the published studies' claims, after load_studies. Safe to run again."

    def handle(self, *args: Any, **options: Any) -> None:
        sentences = load_all()
        self.stdout.write(
            "\n".join(sentences) if sentences else "The studies' claims are loaded already; nothing changed."
        )
