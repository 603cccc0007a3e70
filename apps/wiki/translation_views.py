"""The page that translates a study's own texts for its wiki page."""

import re

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _

from apps.core.forms import SiteForm
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.studies.models import Study
from apps.studies.translations import pairs_of, save_wording
from apps.wiki.documents.addresses import LINK, addresses_of
from apps.wiki.documents.document import Contents, written
from apps.wiki.documents.formats import LANGUAGES, language_for
from apps.wiki.documents.translation import texts_of

_PROSE = re.compile(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")  # names and figures alone need no words
MOST = 400  # fields on one page; what is filled in makes room for the next ones


class LanguageForm(SiteForm):
    lang = forms.ChoiceField(choices=settings.LANGUAGES, label=_("Language"))


@member_required(Role.ENGINEER)
def study_wording(request: LabRequest, slug: str) -> HttpResponseBase:
    """List the texts (GET), or store their translations (POST); an empty field leaves a text untranslated."""
    study = get_object_or_404(Study, slug=slug, lab=request.lab)
    usual = {"lang": language_for(study.language)}
    form = LanguageForm({**usual, **request.GET.dict()})
    language = form.cleaned_data["lang"] if form.is_valid() else usual["lang"]
    if request.method == "POST":
        return _keep(request, study, language)
    held = pairs_of(study, language)
    rows = [*held.items(), *((text, "") for text in _unsaid(request, study, language) if text not in held)][:MOST]
    context = {"study": study, "form": form, "rows": rows, "lang": language}
    return render(request, "wiki/wording.html", context, status=200 if form.is_valid() else 400)


def _keep(request: LabRequest, study: Study, language: str) -> HttpResponse:
    typed = zip(request.POST.getlist("text"), request.POST.getlist("said"), strict=False)
    pairs = {text.strip(): words.strip() for text, words in typed if text.strip() and words.strip()}
    changed = save_wording(study, language, pairs)
    messages.success(request, _("%(n)s texts were changed.") % {"n": changed})
    return redirect(f"{request.path}?lang={language}")


def _unsaid(request: LabRequest, study: Study, language: str) -> list[str]:
    """Return texts that the wiki page has in `language` exactly as in another one, because nobody has translated them."""
    addresses = addresses_of(request, study, LINK)
    other = next(code for code in LANGUAGES if code != language)
    contents = Contents(study)
    same = set(texts_of(written(contents, other, addresses)))
    return [text for text in texts_of(written(contents, language, addresses)) if text in same and _PROSE.search(text)]
