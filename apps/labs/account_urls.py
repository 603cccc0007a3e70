"""URLs below /accounts/: allauth's pages that are used, by allauth's names, and Spindle's own; nothing else exists there."""

from allauth.account import views as allauth
from django.urls import path, re_path

from apps.labs.views import accounts

urlpatterns = [
    path("login/", accounts.SignInView.as_view(), name="account_login"),
    path("logout/", allauth.logout, name="account_logout"),
    path("password/change/", accounts.PasswordChangeView.as_view(), name="account_change_password"),
    path("password/reset/", accounts.ForgottenPasswordView.as_view(), name="account_reset_password"),
    path("password/reset/done/", allauth.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]{1,12})-(?P<key>[\w-]{1,100})/$",
        allauth.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("password/reset/key/done/", allauth.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path("email/", accounts.address, name="account_email"),
    path("email/confirm/<str:key>/", accounts.confirm_address, name="account_confirm_address"),
]
