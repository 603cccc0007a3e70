"""`./manage.py create_token --lab my-lab --scope read` prints a lab token once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.labs.command_line import lab_named, tell_of_data_folder
from apps.labs.isolation import lab_scope
from apps.labs.models import COMMAND_LINE, AuditEvent, Token, TokenScope


class Command(BaseCommand):
    help = (
        "Make a token for scripts and wikis, and print it. It is kept only as a hash: this is the one time it is shown."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lab", required=True, help="the lab's short name or name, as in `My lab` or `my-lab`")
        parser.add_argument("--scope", required=True, choices=TokenScope.values)
        parser.add_argument("--name", default="made on the command line")
        tell_of_data_folder(parser)
        parser.add_argument("--days", type=int, help="ends after so many days; without it, when it is revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        lab = lab_named(options["lab"])
        with lab_scope(lab.pk):
            _, secret = Token.objects.issue(lab, options["scope"], options["name"], options["days"])
            AuditEvent.objects.record(
                lab.pk, "token created", options["name"], actor=COMMAND_LINE, scope=options["scope"], maker=COMMAND_LINE
            )
        self.stdout.write(secret)
