"""Labs, their members, invitations and tokens.

A token reaches its own lab; a signed-in person every lab of theirs, with the role they have there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import Throttled
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import LinkField, TextField
from apps.api.openapi import problems
from apps.api.permissions import LabPermission
from apps.api.problems import ProblemError
from apps.api.viewsets import ScopedViewSet
from apps.core.mail import LONGEST, check_mail_address
from apps.labs import services
from apps.labs.isolation import lab_scope
from apps.labs.links import invitations, one_use, renewals
from apps.labs.links.invitations import AlreadyMemberError
from apps.labs.links.one_use import HandedOver, LinkError, MailError, Maker, TooManyError
from apps.labs.models import Invitation, Lab, LinkState, Member, Role, Token, TokenScope
from apps.labs.views.labs import WHO_MAKES_LABS

ROLES = list(Role.choices)
ONCE = "the one-use link, in this answer alone; null where it went by mail"
NEVER = "always empty: where a mail cannot be sent nothing is made, and the answer is 503"


class MailAddressField(serializers.EmailField):
    """An address that mail can be sent to as it stands; in lower case, as accounts have it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            check_mail_address(text)
        except ValidationError as error:
            raise serializers.ValidationError(error.message) from None
        return str(text).lower()


class LabSummarySerializer(serializers.ModelSerializer[Lab]):
    """A lab. The context has the `roles` of the caller."""

    slug = serializers.CharField(help_text="the short name for commands; it stays when the lab is renamed")
    role = serializers.SerializerMethodField(help_text="of the signed-in person; null for a token")
    url = LinkField("api-lab")
    members_url = LinkField("api-lab-members")
    invitations_url = LinkField("api-lab-invitations")

    class Meta:
        model = Lab
        fields: tuple[str, ...] = (
            "id", "name", "slug", "role", "url", "members_url", "invitations_url", "created_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_role(self, lab: Lab) -> str | None:
        role: str | None = self.context["roles"].get(lab.pk)
        return role


class LabNameSerializer(serializers.Serializer[Any]):
    """The body that renames a lab."""

    name = TextField(max_length=120)


class NewLabSerializer(LabNameSerializer):
    """The body that makes a lab."""

    owner = MailAddressField(
        required=False,
        help_text="who is invited as owner; a token has to name one, a signed-in person becomes the owner without it",
    )


class MemberSerializer(serializers.ModelSerializer[Member]):
    """A member of a lab."""

    email = serializers.CharField(source="user.email")
    role = serializers.ChoiceField(choices=ROLES)
    is_proved = serializers.BooleanField(help_text="whether the mailbox of this address has answered")
    last_sign_in = serializers.DateTimeField(source="user.last_login", allow_null=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Member
        fields = ("id", "email", "role", "is_proved", "last_sign_in", "url")
        read_only_fields = fields

    @extend_schema_field(serializers.URLField)
    def get_url(self, member: Member) -> str:
        address = reverse("api-lab-member", args=[member.lab_id, member.pk])
        return str(self.context["request"].build_absolute_uri(address))


class MemberRoleSerializer(serializers.Serializer[Any]):
    """The body that gives a member another role."""

    role = serializers.ChoiceField(choices=ROLES)


class NewInvitationSerializer(serializers.Serializer[Any]):
    """The body that invites somebody."""

    email = MailAddressField()
    role = serializers.ChoiceField(choices=ROLES)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation, without its link."""

    email = serializers.CharField()
    role = serializers.ChoiceField(choices=ROLES)
    state = serializers.CharField(help_text="open, accepted, declined or revoked")
    by_mail = serializers.BooleanField(help_text="the link went to the mailbox of the address, and was shown to nobody")

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            "id", "email", "role", "state", "by_mail", "created_by", "created_at", "expires_at", "ended_at",
        )  # fmt: skip
        read_only_fields = fields


class MadeInvitationSerializer(InvitationSerializer):
    """An invitation that was just made, with its link."""

    link = serializers.CharField(allow_null=True, help_text=ONCE)
    problem = serializers.CharField(help_text=NEVER)

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link", "problem")
        read_only_fields = fields


class MadeLabSerializer(LabSummarySerializer):
    """A lab that was just made."""

    invitation = MadeInvitationSerializer(allow_null=True, help_text="of the owner who was named")

    class Meta(LabSummarySerializer.Meta):
        fields = (*LabSummarySerializer.Meta.fields, "invitation")
        read_only_fields = fields


class MadeRenewalSerializer(serializers.Serializer[Any]):
    """A one-use link by which a member sets a new password."""

    id = serializers.IntegerField()
    email = serializers.CharField(source="user.email")
    expires_at = serializers.DateTimeField()
    by_mail = serializers.BooleanField()
    link = serializers.CharField(allow_null=True, help_text=ONCE)
    problem = serializers.CharField(help_text=NEVER)


class LabTokenSerializer(serializers.ModelSerializer[Token]):
    """A token of the lab, never its secret."""

    scope = serializers.CharField()
    made_by = serializers.CharField(
        help_text="address of the maker then, “command line”, or empty where nobody knows any more"
    )
    state = serializers.CharField(help_text="living, expired or ended")
    reason = serializers.SerializerMethodField(help_text="why it ended; empty while it lives")
    ended_at = serializers.DateTimeField(source="revoked_at", allow_null=True)

    class Meta:
        model = Token
        fields = (
            "id", "name", "scope", "made_by", "state", "reason", "created_at", "expires_at", "last_used_at", "ended_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_reason(self, token: Token) -> str:
        return "" if token.state == "living" else str(token.state_words)


class OwnersReadPermission(BasePermission):
    """Reading needs the role owner, or a token of scope `admin`."""

    message = "This needs the role owner."

    def has_permission(self, request: Request, view: object) -> bool:
        if request.method != "GET":
            return True  # the answer is 405
        if isinstance(request.auth, Token):
            self.message = f"This needs a token of scope admin; this one has {request.auth.scope}."
            return bool(request.auth.scope == TokenScope.ADMIN)
        member = getattr(request._request, "member", None)
        return member is not None and bool(member.covers(Role.OWNER))


@extend_schema_view(
    list=extend_schema(description="The lab's tokens with their makers, for owners and tokens of scope `admin`.")
)
class TokenViewSet(ListModelMixin, ScopedViewSet[Token]):
    """Tokens of the lab, for scripts that watch them: never their secrets."""

    model = Token
    serializer_class = LabTokenSerializer
    permission_classes = (LabPermission, OwnersReadPermission)

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(lab=self.lab)


@extend_schema_view(
    list=extend_schema(description="The labs of the token or of the signed-in person."),
)
class LabViewSet(ListModelMixin, ScopedViewSet[Lab]):
    """The labs of the token or of the signed-in person."""

    model = Lab
    serializer_class = LabSummarySerializer
    needed_role = Role.VIEWER

    def get_queryset(self) -> Any:
        return Lab.objects.filter(pk__in=find_roles(self.request))

    def get_serializer_context(self) -> dict[str, object]:
        return {**super().get_serializer_context(), "roles": find_roles(self.request)}

    @extend_schema(request=NewLabSerializer, responses={201: MadeLabSerializer, **problems(409)})
    def create(self, request: Request) -> Response:
        """Make a lab, where SPINDLE_LABS_BY lets the caller."""
        token = request.auth if isinstance(request.auth, Token) else None
        data = self.validate_body(NewLabSerializer)
        if not (services.may_make_labs(request.user) if token is None else services.may_tokens_make_labs()):  # type: ignore[arg-type]
            raise ProblemError(403, WHO_MAKES_LABS[settings.LABS_BY])
        address = data.get("owner")
        if token and not address:
            detail = "owner: a token has to name who will own the lab."
            raise ProblemError(400, detail, field="owner", expected="an e-mail address")
        owner: Any = None if address else request.user
        with transaction.atomic():  # no lab without an owner is left when the mail to the owner cannot be sent
            try:
                lab: Any = services.create_lab(data["name"], who(request), owner)
            except services.LabNameError as error:
                raise ProblemError(409, str(error), field="name", found=data["name"]) from None
            lab.invitation = invite(lab, address, Role.OWNER, find_maker(request, lab)) if address else None
        return Response(MadeLabSerializer(lab, context=self.get_serializer_context()).data, status=201)

    def retrieve(self, request: Request, pk: int) -> Response:
        """Return one lab."""
        return Response(self.get_serializer(reach_lab(request, pk, Role.VIEWER)).data)

    @extend_schema(
        operation_id="labs_rename",
        request=LabNameSerializer,
        responses={200: LabSummarySerializer, **problems(409)},
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        """Give a lab another name. Its short name stays."""
        lab, data = reach_lab(request, pk, Role.OWNER), self.validate_body(LabNameSerializer)
        try:
            return Response(self.get_serializer(services.rename_lab(lab, data["name"], who(request))).data)
        except services.LabNameError as error:
            raise ProblemError(409, str(error), field="name", found=data["name"]) from None

    @extend_schema(request=None, responses={204: None, **problems(409)})
    @action(detail=True, methods=["post"])
    def leave(self, request: Request, pk: int) -> Response:
        """End one's own services. The only owner hands over first, unless they are alone in a lab that holds nothing."""
        reach_lab(request, pk, Role.VIEWER)
        if isinstance(request.auth, Token):
            raise ProblemError(400, "A token has no membership that it could end.", expected="a signed-in person")
        self.refuse_body()
        member = get_object_or_404(Member.objects.select_related("lab", "user"), lab=pk, user=request.user.pk)
        with answer_refusals():
            services.leave_lab(member)
        return Response(status=204)


class MemberViewSet(ListModelMixin, ScopedViewSet[Member]):
    """Who is in the lab; a token needs the scope admin for it."""

    model = Member
    serializer_class = MemberSerializer
    needed_role = Role.VIEWER
    lookup_url_kwarg = "member"

    def get_queryset(self) -> Any:
        return members_of(reach_lab(self.request, self.kwargs["pk"], Role.VIEWER, TokenScope.ADMIN))

    @extend_schema(request=MemberRoleSerializer, responses={200: MemberSerializer, **problems(409)})
    def partial_update(self, request: Request, pk: int, member: int) -> Response:
        """Give a member another role. The only owner stays one."""
        lab = reach_lab(request, pk, Role.OWNER)
        role = self.validate_body(MemberRoleSerializer)["role"]
        row = find_member(lab, member)
        with lab_scope(lab.pk), answer_refusals():
            services.change_role(row, role, who(request))
        return Response(self.get_serializer(find_member(lab, member)).data)

    @extend_schema(operation_id="labs_members_remove", responses={204: None, **problems(409)})
    def destroy(self, request: Request, pk: int, member: int) -> Response:
        """Remove a member. The only owner stays."""
        lab = reach_lab(request, pk, Role.OWNER)
        row = find_member(lab, member)
        with lab_scope(lab.pk), answer_refusals():
            services.remove_member(row, who(request))
        return Response(status=204)

    @extend_schema(request=None, responses={201: MadeRenewalSerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def renew(self, request: Request, pk: int, member: int) -> Response:
        """Make a one-use link by which the member sets a new password.

        docs/how-to/administration.md says for whom it works.
        """
        lab = reach_lab(request, pk, Role.OWNER)
        row = find_member(lab, member)
        self.refuse_body()
        with answer_refusals():
            renewal, secret = renewals.renew(row, find_maker(request, lab))
            over = renewals.hand_over(renewal, secret)
        return answer_once(MadeRenewalSerializer(note_link(renewal, over)).data)


@extend_schema_view(list=extend_schema(description="Invitations in every state, without their links."))
class InvitationViewSet(ListModelMixin, ScopedViewSet[Invitation]):
    """Invitations in every state, without their links."""

    model = Invitation
    serializer_class = InvitationSerializer
    needed_role = Role.VIEWER
    lookup_url_kwarg = "invitation"

    def get_queryset(self) -> Any:
        lab = reach_lab(self.request, self.kwargs["pk"], Role.OWNER, TokenScope.ADMIN)
        with lab_scope(lab.pk):
            return Invitation.objects.filter(lab=lab)

    @extend_schema(request=NewInvitationSerializer, responses={201: MadeInvitationSerializer, **problems(409)})
    def create(self, request: Request, pk: int) -> Response:
        """Invite somebody; the answer is the same whether the address has an account or not."""
        lab = reach_lab(request, pk, Role.OWNER, TokenScope.ADMIN)
        data = self.validate_body(NewInvitationSerializer)
        invitation = invite(lab, data["email"], data["role"], find_maker(request, lab))
        return answer_once(MadeInvitationSerializer(invitation).data)

    @extend_schema(request=None, responses={200: InvitationSerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: int, invitation: int) -> Response:
        """Revoke an invitation, so that its link no longer works."""
        lab = reach_lab(request, pk, Role.OWNER)
        with lab_scope(lab.pk):
            row = get_object_or_404(Invitation.objects, pk=invitation, lab=lab)
            self.refuse_body()
            is_revoked = one_use.revoke(row, who(request))
            row.refresh_from_db()
            if not is_revoked:
                detail = "The invitation has ended already."
                raise ProblemError(409, detail, found=row.state, expected=LinkState.OPEN.value)
        return Response(self.get_serializer(row).data)


def find_roles(request: Request) -> dict[int, str | None]:
    """Return the labs that the caller reaches: the lab's id, and the member's role or None for a token."""
    if isinstance(request.auth, Token):
        return {request.auth.lab_id: None}
    return dict(Member.objects.filter(user=request.user.pk).values_list("lab_id", "role"))


def reach_lab(request: Request, pk: int, role: str, scope: str = TokenScope.READ) -> Lab:
    """Return a lab in which the caller has at least this role, or whose token has at least this scope.

    Raise a 404 where the caller does not reach the lab at all, a 403 where role or scope is too little. The permission
    class has already checked that a token which changes something has the scope `admin`.
    """
    roles = find_roles(request)
    if pk not in roles:
        raise Http404
    lab, own = Lab.objects.get(pk=pk), roles[pk]
    if own is not None and not Role(own).covers(role):
        raise ProblemError(403, f"This needs the role {role}; you are {own} in {lab}.", found=own, expected=str(role))
    if isinstance(request.auth, Token) and not request.auth.allows(scope):
        detail = f"This needs a token of scope {scope}; this one has {request.auth.scope}."
        raise ProblemError(403, detail, found=request.auth.scope)
    return lab


def find_maker(request: Request, lab: Lab) -> Maker:
    """Return who makes a link.

    A token's link into a lab that it has just made ends with nothing: the token is no part of that lab.
    """
    if isinstance(request.auth, Token):
        return Maker(who(request), token=request.auth if request.auth.lab_id == lab.pk else None)
    is_owner = Member.objects.filter(lab=lab, user=request.user.pk, role=Role.OWNER).exists()
    user: Any = request.user if is_owner else None
    return Maker(who(request), user=user)


@contextmanager
def answer_refusals() -> Iterator[None]:
    """Turn refusals of the lab's rules into answers of the REST interface.

    Too many links are a 429, a mail that could not be sent a 503, an unknown member a 404, all others a 409.
    """
    try:
        yield
    except TooManyError as error:
        raise Throttled(wait=3600, detail=str(error)) from None
    except MailError as error:
        raise ProblemError(503, str(error)) from None
    except (LinkError, services.LastOwnerError) as error:
        raise ProblemError(409, str(error)) from None
    except Member.DoesNotExist:
        raise Http404 from None


def invite(lab: Lab, email: str, role: str, maker: Maker) -> Any:
    """Invite somebody, and return the invitation with its `link`, which is shown only once."""
    with answer_refusals():
        try:
            invitation, secret = invitations.invite(lab, email, role, maker)
        except AlreadyMemberError as error:
            raise ProblemError(409, str(error), field="email", found=email) from None
        over = invitations.hand_over(invitation, secret)
    return note_link(invitation, over)


def note_link(row: Any, over: HandedOver) -> Any:
    """Set on the row whether its link was mailed, and the link itself where it was not; return the row."""
    row.by_mail, row.link, row.problem = over.link is None, over.link, ""
    return row


def answer_once(data: object) -> Response:
    """Answer 201 with data that hold a secret, and forbid caches to store it."""
    return Response(data, status=201, headers={"Cache-Control": "no-store"})


def members_of(lab: Lab) -> Any:
    """Return the lab's members, each with whether its mail address is proved."""
    proved = EmailAddress.objects.filter(user=OuterRef("user"), email__iexact=OuterRef("user__email"), verified=True)
    return Member.objects.filter(lab=lab).select_related("user", "lab").annotate(is_proved=Exists(proved))


def find_member(lab: Lab, pk: int) -> Any:
    """Return one member. Raise 404 where the lab has none of this number."""
    return get_object_or_404(members_of(lab), pk=pk)
