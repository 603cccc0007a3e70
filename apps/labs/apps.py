from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import post_migrate, post_save, pre_delete


class LabsConfig(AppConfig):
    name = "apps.labs"

    def ready(self) -> None:
        from allauth.account.signals import password_reset

        from apps.labs import addresses, isolation, sign_in, tokens
        from apps.labs.models import Member

        post_migrate.connect(isolation.add_constraints, sender=self, dispatch_uid="same-lab")
        pre_delete.connect(tokens.member_gone, sender=Member, dispatch_uid="tokens-of-member-gone")
        post_save.connect(tokens.role_changed, sender=Member, dispatch_uid="tokens-beyond-role")
        user_logged_in.connect(sign_in.signed_in, dispatch_uid="sign-in-trail")
        password_reset.connect(addresses.proved_by_reset, dispatch_uid="address-proved-by-reset")
