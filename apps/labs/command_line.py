"""What the commands of several apps ask for alike."""

from django.core.management.base import CommandError

from apps.labs.models import Lab


def lab_named(name: str) -> Lab:
    """By short name, else by name. `CommandError` names the labs that there are."""
    lab = Lab.objects.filter(slug=name).first() or Lab.objects.filter(name=name).first()
    if lab is None:
        known = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none; run bin/up first"
        raise CommandError(f"There is no lab {name!r}. Labs here: {known}.")
    return lab
