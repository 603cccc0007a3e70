from django.urls import path

from apps.labs import views

urlpatterns = [
    path("lab/", views.lab, name="lab"),
    path("lab/members/", views.add_member, name="member-add"),
    path("lab/members/<int:pk>/role/", views.change_role, name="member-role"),
    path("lab/members/<int:pk>/remove/", views.remove_member, name="member-remove"),
    path("lab/tokens/", views.tokens, name="tokens"),
    path("lab/tokens/<int:pk>/revoke/", views.revoke_token, name="token-revoke"),
    path("lab/audit/", views.audit, name="audit"),
    path("labs/switch/", views.switch, name="lab-switch"),
]
