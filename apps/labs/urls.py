from django.urls import path

from apps.labs.views import labs, links

urlpatterns = [
    path("lab/", labs.lab, name="lab"),
    path("lab/members/", labs.add_member, name="member-add"),
    path("lab/members/<int:pk>/role/", labs.change_role, name="member-role"),
    path("lab/members/<int:pk>/remove/", labs.remove_member, name="member-remove"),
    path("lab/members/<int:pk>/renew/", labs.renew_member, name="member-renew"),
    path("lab/invitations/<int:pk>/revoke/", labs.revoke_invitation, name="invitation-revoke"),
    path("lab/renewals/<int:pk>/revoke/", labs.revoke_renewal, name="renewal-revoke"),
    path("lab/rename/", labs.rename, name="lab-rename"),
    path("lab/leave/", labs.leave, name="lab-leave"),
    path("lab/tokens/", labs.tokens, name="tokens"),
    path("lab/tokens/<int:pk>/revoke/", labs.revoke_token, name="token-revoke"),
    path("lab/audit/", labs.audit, name="audit"),
    path("labs/new/", labs.new_lab, name="lab-new"),
    path("invitation/", links.invitation, name="invitation"),
    path("invitation/accept/", links.accept, name="invitation-accept"),
    path("invitation/accept-as-new/", links.accept_as_new, name="invitation-accept-as-new"),
    path("invitation/decline/", links.decline, name="invitation-decline"),
    path("invitation/other-account/", links.use_another_account, name="invitation-other-account"),
    path("invitations/", links.my_invitations, name="my-invitations"),
    path("invitations/<int:pk>/", links.answer, name="invitation-answer"),
    path("renewal/", links.renewal, name="renewal"),
    path("renewal/password/", links.renew, name="renewal-password"),
    path("labs/switch/", labs.switch, name="lab-switch"),
]
