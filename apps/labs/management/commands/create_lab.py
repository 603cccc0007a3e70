"""`./manage.py create_lab --name "Storage lab" --owner you@example.org` makes a lab and prints its owner's one-use link."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.labs import services
from apps.labs.command_line import email_address, print_invitation, tell_of_data_folder
from apps.labs.links import invitations
from apps.labs.links.one_use import Maker
from apps.labs.models import Role


class Command(BaseCommand):
    help = "Make a lab, and print a one-use link by which its owner joins. The link is kept only as a hash: this is the one time it is shown."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="what people call the lab; it can be renamed")
        parser.add_argument(
            "--owner", required=True, metavar="ADDRESS", type=email_address, help="e-mail address of the owner"
        )
        parser.add_argument("--slug", default="", help="short name for commands (default: made of the name); it stays")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        tell_of_data_folder(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        maker = Maker("command line")
        try:
            with transaction.atomic():
                lab = services.create_lab(options["name"], maker.name, slug=services.clean_slug(options["slug"]))
                invitation, secret = invitations.invite(lab, options["owner"], Role.OWNER, maker)
        except services.LabNameError as error:
            raise CommandError(str(error)) from None
        if not options["json"]:
            self.stdout.write(f"Lab: {lab.name} (short name {lab.slug})")
        print_invitation(self.stdout, invitation, secret, as_json=options["json"])
