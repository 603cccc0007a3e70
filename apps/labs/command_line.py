"""Arguments and look-ups that management commands of several apps share."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from apps.core.mail import check_mail_address
from apps.core.units import moment
from apps.labs.links.invitations import link_of
from apps.labs.models import Invitation, Lab


def tell_of_data_folder(parser: ArgumentParser) -> None:
    """Add `--data` to a command's help; manage.py removes the option before, because the settings depend on it."""
    parser.add_argument(
        "--data", metavar="DIR", help="data folder of the bin/up to talk to (default: var in the checkout)"
    )


def lab_named(name: str) -> Lab:
    """Return the lab of this short name, else of this name.

    Raises:
        CommandError: There is none; the message names all.
    """
    lab = Lab.objects.filter(slug=name).first() or Lab.objects.filter(name=name).first()
    if lab is None:
        known = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none; run bin/up first"
        raise CommandError(f"There is no lab {name!r}. Labs here: {known}.")
    return lab


def email_address(text: str) -> str:
    """Return an e-mail address in lower case, for argparse's `type`."""
    try:
        check_mail_address(text.strip())
    except ValidationError as error:
        raise ArgumentTypeError(error.message) from None
    return text.strip().lower()


def print_invitation(stdout: Any, invitation: Invitation, secret: str, *, as_json: bool) -> None:
    """Print the one-use link on the last line, or all of it as one JSON object."""
    link = link_of(secret)
    if as_json:
        result = {"lab": invitation.lab.slug, "name": invitation.lab.name, "email": invitation.email}
        stdout.write(
            json.dumps(
                {**result, "role": invitation.role, "link": link, "expires_at": invitation.expires_at.isoformat()}
            )
        )
        return
    stdout.write(
        f"One-use link for {invitation.email} as {invitation.role}, until {moment(invitation.expires_at)}, shown this once:"
    )
    stdout.write(link)
