"""The end of tokens with the membership of their maker: removed, left, or account deleted."""

from typing import Any

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Member, Role, Token, TokenScope

# What a member of a role may still have made.
SCOPES_OF = {
    Role.VIEWER: {TokenScope.READ},
    Role.ENGINEER: {TokenScope.READ, TokenScope.UPLOAD, TokenScope.RUN},
    Role.OWNER: set(TokenScope),
}


def end_tokens(member: Member, because: str, scopes: set[TokenScope]) -> None:
    """End the living tokens of these scopes that a member has made in the lab, and write each down in the trail."""
    with lab_scope(member.lab_id):
        made = Token.objects.filter(lab_id=member.lab_id, maker_id=member.user_id, scope__in=scopes)
        for token in made.end(because):
            AuditEvent.objects.record(member.lab_id, "token ended", token.name, scope=token.scope, reason=because)


def member_gone(instance: Member, **_: Any) -> None:
    """Receive `pre_delete` of a membership."""
    end_tokens(instance, f"its maker, {instance.user.email}, is no longer a member", set(TokenScope))


def role_changed(instance: Member, created: bool, **_: Any) -> None:
    """Receive `post_save` of a membership: tokens that reach further than the new role end."""
    if not created and (beyond := set(TokenScope) - SCOPES_OF[Role(instance.role)]):
        end_tokens(instance, f"its maker, {instance.user.email}, is now {instance.role}", beyond)
