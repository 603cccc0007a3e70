from django.apps import AppConfig
from django.db.models.signals import post_migrate


class LabsConfig(AppConfig):
    name = "apps.labs"

    def ready(self) -> None:
        from apps.labs import same_lab

        post_migrate.connect(same_lab.add_constraints, sender=self, dispatch_uid="same-lab")
