"""What the commands of several apps ask for alike."""

from argparse import ArgumentParser

from django.core.management.base import CommandError

from apps.labs.models import Lab


def tell_of_data_folder(parser: ArgumentParser) -> None:
    """For the help alone: manage.py takes `--data` away before a command sees it, because the settings depend on it."""
    parser.add_argument(
        "--data", metavar="DIR", help="data folder of the bin/up to talk to (default: var in the checkout)"
    )


def lab_named(name: str) -> Lab:
    """By short name, else by name. `CommandError` names the labs that there are."""
    lab = Lab.objects.filter(slug=name).first() or Lab.objects.filter(name=name).first()
    if lab is None:
        known = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none; run bin/up first"
        raise CommandError(f"There is no lab {name!r}. Labs here: {known}.")
    return lab
