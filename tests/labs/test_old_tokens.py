"""Tokens from before their makers were kept: the trail knows most of them."""

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Token
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def test_old_tokens_get_the_maker_that_the_trail_knows(cast: Cast) -> None:
    who = {"member": cast.owner.email, "gone": cast.stranger.email, "script": "command line", "unknown": None}
    with lab_scope(cast.lab.pk):
        for name, maker in who.items():
            Token.objects.create(lab=cast.lab, scope="read", name=name, secret_sha256=name)
            if maker:
                AuditEvent.objects.record(cast.lab.pk, "token created", name, actor=maker)
        before = timezone.now()
        import_module("apps.labs.migrations.0005_makers_of_old_tokens").name_makers(apps, None)
        tokens = {token.name: token for token in Token.objects.all()}
    assert tokens["member"].maker == cast.owner
    assert tokens["member"].revoked_at is None
    assert tokens["gone"].made_by == cast.stranger.email
    assert tokens["gone"].revoked_at >= before
    assert "no longer a member" in tokens["gone"].ended_because
    assert (tokens["script"].made_by, tokens["script"].maker, tokens["script"].revoked_at) == (
        "command line",
        None,
        None,
    )
    assert (tokens["unknown"].made_by, tokens["unknown"].revoked_at) == ("", None)
