"""`./manage.py prepare`: everything that `bin/up` needs in the database before the pages open, in one process."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from apps.agents.models import Agent, Enrolment
from apps.dashboard import prepare_state
from apps.labs.command_line import email_address
from apps.labs.isolation import lab_scope
from apps.labs.services import LabNameError, first_lab


class Command(BaseCommand):
    help = "Bring the database up to date; make the first lab and owner, the published reports and an enrolment token."
    requires_system_checks = ()  # they import every page; `_everything` asks for them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object for bin/up")
        parser.add_argument("--lab", default="My lab", help="name of the first lab, where it is made (default: My lab)")
        parser.add_argument(
            "--owner", default="owner@spindle.local", type=email_address, metavar="ADDRESS",
            help="e-mail address of its owner, where it is made (default: owner@spindle.local)",
        )  # fmt: skip
        parser.add_argument("--agent", type=int, help="this machine's agent, if it is enrolled; else a token is made")

    def handle(self, *args: Any, **options: Any) -> None:
        changed = [] if prepare_state.is_prepared() else self._everything()
        with transaction.atomic():  # what stops this leaves no owner whose password was never shown
            report = {**_first(options["agent"], options["lab"], options["owner"]), "changed": changed}
            self.stdout.write(json.dumps(report) if options["json"] else _as_text(report))
            self.stdout.flush()

    def _everything(self) -> list[str]:
        """Yield a sentence per change. Always calls `migrate`, which composite keys, triggers and permissions follow."""
        from apps.dashboard.published.load import load_all  # lazily: it imports uploads and readers

        self.check()
        prepare_state.forget()
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        call_command("migrate", verbosity=0, interactive=False)
        changed = [*(str(migration) for migration, _ in plan), *load_all()]
        prepare_state.remember()
        return changed


def _first(agent: int | None, name: str, owner: str) -> dict[str, object]:
    """Create the first lab, its owner, and a token for this machine's agent unless that is enrolled."""
    try:
        first = first_lab(owner, name)
    except LabNameError as error:
        raise CommandError(str(error)) from None
    token = None
    with lab_scope(first.lab.pk):
        if not Agent.objects.filter(pk=agent, lab=first.lab).exists():
            _, token = Enrolment.objects.issue(first.lab, "bin/up", trusted=True)
    return {
        "lab": first.lab.name,
        "slug": first.lab.slug,
        "email": first.email,
        "password": first.password,
        "enrol_token": token,
    }


def _as_text(report: dict[str, Any]) -> str:
    """Return the output as text, with what people want to read at the end."""
    lines = [f"Changed: {what}" for what in report["changed"]]
    lines += [f"Lab: {report['lab']}", f"Owner: {report['email']}"]
    if report["password"]:
        lines.append(f"Password, shown this once: {report['password']}")
    return "\n".join(lines)
