"""Studies by their name in an address."""

from django.http import Http404

from apps.studies.models import Study


def study_named(slug: str) -> Study:
    """Of what the request may see, with its lab; a lab's own study comes before a published one of the same name."""
    found: Study | None = (
        Study.objects.select_related("lab").filter(slug=slug).order_by("lab__is_published", "id").first()
    )
    if found is None:
        raise Http404(f"No study {slug} in this lab.")
    return found
