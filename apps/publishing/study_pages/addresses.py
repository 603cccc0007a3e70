"""Where a study's document and its pictures are, for those who read it elsewhere."""

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.publishing.study_pages.document import Addresses
from apps.studies.models import Study


def addresses_of(request: HttpRequest, study: Study) -> Addresses:
    return Addresses(
        permalink=request.build_absolute_uri(page_of(study)),
        picture=lambda name: request.build_absolute_uri(reverse("api-chart", args=[study.slug, name]) + "?format=png"),
    )


def page_of(study: Study) -> str:
    try:
        return reverse("study", args=[study.slug])
    except NoReverseMatch:
        return reverse("study-wiki", args=[study.slug])


def rest_of(request: HttpRequest, study: Study, form: str, language: str) -> str:
    """The address that wikis and scripts ask."""
    return request.build_absolute_uri(f"/api/v1/studies/{study.slug}/?format={form}&lang={language}")
