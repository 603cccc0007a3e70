"""A study's own texts in another language: what its wiki page still says as it was written, with a field beside each."""

import re

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.lib.forms import SiteForm
from apps.publishing.study_pages.addresses import LINK, addresses_of
from apps.publishing.study_pages.contents import Contents
from apps.publishing.study_pages.document import written
from apps.publishing.study_pages.worded import texts_of
from apps.publishing.study_pages.words import LANGUAGES, language_for
from apps.studies.models import Study
from apps.studies.wording import pairs_of, put_wording

_PROSE = re.compile(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")  # names and figures alone need no words
MOST = 400  # fields on one page; what is filled in makes room for the next ones


class LanguageForm(SiteForm):
    lang = forms.ChoiceField(choices=settings.LANGUAGES, label=_("Language"))


@member_required(Role.ENGINEER)
def study_wording(request: LabRequest, slug: str) -> HttpResponseBase:
    """GET lists the texts, POST keeps what stands beside them; an empty field leaves the text as it was written."""
    study = get_object_or_404(Study, slug=slug, lab=request.lab)
    usual = {"lang": language_for(study.language)}
    form = LanguageForm({**usual, **request.GET.dict()})
    language = form.cleaned_data["lang"] if form.is_valid() else usual["lang"]
    if request.method == "POST":
        return _keep(request, study, language)
    held = pairs_of(study, language)
    rows = [*held.items(), *((text, "") for text in _unsaid(request, study, language) if text not in held)][:MOST]
    context = {"study": study, "form": form, "rows": rows, "lang": language}
    return render(request, "publishing/wording.html", context, status=200 if form.is_valid() else 400)


def _keep(request: LabRequest, study: Study, language: str) -> HttpResponse:
    typed = zip(request.POST.getlist("text"), request.POST.getlist("said"), strict=False)
    pairs = {text.strip(): said.strip() for text, said in typed if text.strip() and said.strip()}
    changed = put_wording(study, language, pairs)
    messages.success(request, _("%(n)s texts were changed.") % {"n": changed})
    return redirect(f"{request.path}?lang={language}")


def _unsaid(request: LabRequest, study: Study, language: str) -> list[str]:
    """What the wiki page says in `language` just as in another one: nobody has put it in words yet."""
    addresses = addresses_of(request, study, LINK)
    other = next(code for code in LANGUAGES if code != language)
    contents = Contents(study)
    same = set(texts_of(written(contents, other, addresses)))
    return [text for text in texts_of(written(contents, language, addresses)) if text in same and _PROSE.search(text)]
