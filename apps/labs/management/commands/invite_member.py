"""`./manage.py invite_member --lab my-lab --email you@example.org --role engineer` prints a one-use link into a lab."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.labs.command_line import email_address, lab_named, print_invitation, tell_of_data_folder
from apps.labs.links import invitations
from apps.labs.links.one_use import LinkError, Maker
from apps.labs.models import Role


class Command(BaseCommand):
    help = "Invite somebody to a lab, and print the one-use link; for a lab without owners too."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lab", required=True, help="the lab's short name or name, as in `My lab` or `my-lab`")
        parser.add_argument("--email", required=True, type=email_address)
        parser.add_argument("--role", choices=Role.values, default=Role.VIEWER.value)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        tell_of_data_folder(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        lab = lab_named(options["lab"])
        try:
            invitation, secret = invitations.invite(lab, options["email"], options["role"], Maker("command line"))
        except LinkError as error:
            raise CommandError(str(error)) from None
        print_invitation(self.stdout, invitation, secret, as_json=options["json"])
