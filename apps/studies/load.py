"""The lab of the published studies. `apps.dashboard.published` brings them in."""

from apps.labs.models import Lab

LAB_NAME, LAB_SLUG = "Published reports", "published-reports"


def published_lab() -> tuple[Lab, bool]:
    """The lab that everybody may read, and whether it was made just now."""
    lab, is_new = Lab.objects.get_or_create(slug=LAB_SLUG, defaults={"name": LAB_NAME, "is_published": True})
    return lab, is_new
