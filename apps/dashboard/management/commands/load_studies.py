from typing import Any

from django.core.management.base import BaseCommand

from apps.dashboard.published.load import load_all


class Command(BaseCommand):
    help = "Load the published studies into the lab that everybody may read. Safe to run again."

    def handle(self, *args: Any, **options: Any) -> None:
        text = load_all()
        self.stdout.write("\n".join(text) if text else "The published studies are loaded already; nothing changed.")
