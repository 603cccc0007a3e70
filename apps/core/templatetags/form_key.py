"""The tag `{% form_key %}`, by which a form that is sent twice counts once (`apps.labs.services.submit_once`)."""

import secrets

from django import template
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core.forms import FORM_KEY

register = template.Library()


@register.simple_tag(takes_context=True)
def form_key(context: Context) -> SafeString:
    """Return the hidden field of a form: a new key, or the one that a refused form was sent with."""
    request = context.get("request")
    key = (request.POST.get(FORM_KEY, "")[:64] if request else "") or secrets.token_urlsafe(16)
    return format_html('<input type="hidden" name="{}" value="{}" autocomplete="off">', FORM_KEY, key)
