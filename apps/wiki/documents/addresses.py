"""Absolute addresses of a study's document and its pictures."""

from dataclasses import replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.core.tables import Document
from apps.studies.models import Study
from apps.wiki.documents.document import Addresses

LINK, FILE = "link", "file"  # how a wiki has the pictures


def addresses_of(request: HttpRequest, study: Study, pictures: str = LINK) -> Addresses:
    """Return the addresses of a study's document.

    Pictures may be files that were uploaded to the wiki under these names.
    """
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
    """Return the address in the REST interface that wikis and scripts request."""
    return request.build_absolute_uri(f"{reverse('api-study', args=[study.slug])}?{urlencode(asked)}")


def linked(document: Document) -> Document:
    """Return the document with pictures by their addresses, for a page of this site."""
    sections = (
        replace(section, picture=replace(section.picture, file="")) if section.picture else section
        for section in document.sections
    )
    return replace(document, sections=tuple(sections))
