"""Where a part can be looked at: its own page, else the page of what it belongs to."""

from django.urls import NoReverseMatch, reverse

from apps.inventory.editing.registry import PartKind, kind_of
from apps.inventory.models import NetworkLink, Part


def page_of(part: Part) -> str:
    kind = kind_of(part)
    if own := _address(kind.name, part.pk):
        return own
    if isinstance(part, NetworkLink):
        nic = part.nic or part.far_nic
        return page_of(nic) if nic else list_of(kind)
    host_id = getattr(part, "host_id", None)
    return reverse("host", args=[host_id]) if host_id else list_of(kind)


def list_of(kind: PartKind) -> str:
    """Return the address of the list of parts of this kind; of the hosts where there is none."""
    return _address(kind.plural) or _address("network") or reverse("hosts")


def _address(name: str, *args: int) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
