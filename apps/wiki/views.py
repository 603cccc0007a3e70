"""The page of a study's wiki text: choose format and language, preview and copy."""

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.comparison.claims.views import may_edit
from apps.core.forms import SiteForm
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.studies.lookup import study_named
from apps.wiki import dialects
from apps.wiki.documents.addresses import FILE, LINK, addresses_of, linked, rest_of
from apps.wiki.documents.document import document_of
from apps.wiki.documents.formats import language_for

FORMATS = {"mediawiki": "MediaWiki", "dokuwiki": "DokuWiki", "markdown": "Markdown", "html": "HTML"}


class WikiForm(SiteForm):
    format = forms.ChoiceField(choices=list(FORMATS.items()), label=_("Format"))
    lang = forms.ChoiceField(choices=settings.LANGUAGES, label=_("Language"))
    pictures = forms.ChoiceField(
        choices=[(LINK, _("as links")), (FILE, _("as files of the wiki"))], label=_("Pictures")
    )


@require_safe
@member_required()
def study_wiki(request: LabRequest, slug: str) -> HttpResponse:
    """Show a study as a wiki page, by default in MediaWiki's dialect and the study's own language."""
    study = study_named(slug)
    usual = {"format": "mediawiki", "lang": language_for(study.language), "pictures": LINK}
    form = WikiForm({**usual, **request.GET.dict()})
    chosen = form.cleaned_data if form.is_valid() else usual
    document = document_of(study, chosen["lang"], addresses_of(request, study, chosen["pictures"]))
    context = {
        "study": study, "form": form, "source": dialects.render(chosen["format"], document), "lang": chosen["lang"],
        "may_word": may_edit(request, study),
        # every text in it has gone through the encoder of HTML
        "preview": mark_safe(dialects.render("html", linked(document))),  # noqa: S308
        "format_label": FORMATS[chosen["format"]], "address": rest_of(request, study, **chosen),
        "files": [section.picture for section in document.sections if section.picture and section.picture.file],
    }  # fmt: skip
    return render(request, "wiki/wiki.html", context, status=200 if form.is_valid() else 400)
