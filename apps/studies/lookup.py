"""Look-up of studies by slug, and of the lab of published studies."""

from django.http import Http404

from apps.labs.models import Lab
from apps.studies.models import Study


def study_named(slug: str) -> Study:
    """Return a study that the request may see, with its lab.

    A lab's own study precedes a published one of the same name.
    """
    study: Study | None = (
        Study.objects.select_related("lab").filter(slug=slug).order_by("lab__is_published", "id").first()
    )
    if study is None:
        raise Http404(f"No study {slug} in this lab.")
    return study


LAB_NAME, LAB_SLUG = "Published reports", "published-reports"


def published_lab() -> tuple[Lab, bool]:
    """Return the lab that everybody may read, and whether it was created just now."""
    lab, is_new = Lab.objects.get_or_create(slug=LAB_SLUG, defaults={"name": LAB_NAME, "is_published": True})
    return lab, is_new
