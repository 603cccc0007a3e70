"""`./manage.py change_address old@example.org new@example.org`: the administrator's way, which needs no mail server."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.core.mail import check_mail_address
from apps.labs import addresses
from apps.labs.command_line import tell_of_data_folder
from apps.labs.models import User


class Command(BaseCommand):
    help = "Give an account another e-mail address to sign in with. It counts as not proved until a mail to it was answered."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("old", metavar="OLD", help="the address that the account has now")
        parser.add_argument("new", metavar="NEW", help="the address that it shall have")
        tell_of_data_folder(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        old, new = options["old"].strip().lower(), options["new"].strip().lower()
        user = User.objects.filter(email=old).first()
        if user is None:
            raise CommandError(f"No account has the address {old}.")
        if old == new:
            raise CommandError(f"{old} is the account's address already.")
        try:
            check_mail_address(options["new"].strip())
            addresses.change_address(user, new, is_proved=False)
        except ValidationError as error:
            raise CommandError(error.message) from None
        except addresses.AddressError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{old} signs in as {new} from now on.")
