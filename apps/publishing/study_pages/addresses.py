"""Where a study's document and its pictures are, for those who read it elsewhere."""

from dataclasses import replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.lib.tables import Document
from apps.publishing.study_pages.document import Addresses
from apps.studies.models import Study

LINK, FILE = "link", "file"  # how a wiki has the pictures


def addresses_of(request: HttpRequest, study: Study, pictures: str = LINK) -> Addresses:
    """With pictures as files, a wiki shows those that were uploaded to it under these names."""
    return Addresses(
        permalink=request.build_absolute_uri(page_of(study)),
        picture=lambda name: request.build_absolute_uri(reverse("api-chart", args=[study.slug, name]) + "?format=png"),
        file=lambda name: f"{study.slug}-{name}.png" if pictures == FILE else "",
    )


def page_of(study: Study) -> str:
    try:
        return reverse("study", args=[study.slug])
    except NoReverseMatch:
        return reverse("study-wiki", args=[study.slug])


def rest_of(request: HttpRequest, study: Study, **asked: str) -> str:
    """The address that wikis and scripts ask."""
    return request.build_absolute_uri(f"{reverse('api-study', args=[study.slug])}?{urlencode(asked)}")


def linked(document: Document) -> Document:
    """The same with its pictures by their addresses, for a page of this site."""
    sections = (
        replace(one, picture=replace(one.picture, file="")) if one.picture else one for one in document.sections
    )
    return replace(document, sections=tuple(sections))
