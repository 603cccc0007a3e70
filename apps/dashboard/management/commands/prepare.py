"""What `bin/up` needs done in the database before the pages open, in one process."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.agents.models import Agent, Enrolment
from apps.dashboard.published.load import load_all
from apps.labs.first import first_lab
from apps.labs.isolation import lab_scope


class Command(BaseCommand):
    help = "Bring the database up to date; make the first lab and owner, the published reports and an enrolment token."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object for bin/up")
        parser.add_argument("--agent", type=int, help="this machine's agent, if it is enrolled; else a token is made")

    def handle(self, *args: Any, **options: Any) -> None:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if plan:
            call_command("migrate", verbosity=0, interactive=False)
        first = first_lab()
        token = None
        with lab_scope(first.lab.pk):
            if not Agent.objects.filter(pk=options["agent"], lab=first.lab).exists():
                _, token = Enrolment.objects.issue(first.lab, "bin/up", trusted=True)
        report = {
            "lab": first.lab.name,
            "slug": first.lab.slug,
            "email": first.email,
            "password": first.password,
            "enrol_token": token,
            "changed": [*(str(migration) for migration, _ in plan), *load_all()],
        }
        self.stdout.write(json.dumps(report) if options["json"] else _as_text(report))


def _as_text(report: dict[str, Any]) -> str:
    lines = [f"Lab: {report['lab']}", f"Owner: {report['email']}"]
    if report["password"]:
        lines.append(f"Password, shown this once: {report['password']}")
    return "\n".join([*lines, *(f"Changed: {what}" for what in report["changed"])])
