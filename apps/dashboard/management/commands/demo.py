"""Start and watch the first real run on this machine, for `bin/up`."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.dashboard.first_run import status
from apps.labs.services import first_lab


class Command(BaseCommand):
    help = "Tell where the first run on this machine stands; with --start, begin it if none has begun."
    requires_system_checks = ()  # they import every page, and `bin/up` asks once a second

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object for bin/up")
        parser.add_argument("--start", action="store_true")
        parser.add_argument("--agent", type=int, required=True, help="this machine's agent, from its identity.json")

    def handle(self, *args: Any, **options: Any) -> None:
        report = status(first_lab().lab, options["agent"], start=options["start"])
        self.stdout.write(json.dumps(report, indent=None if options["json"] else 2))
