from django.apps import AppConfig


class PlansConfig(AppConfig):
    name = "apps.plans"

    def ready(self) -> None:
        from apps.plans.signals import advance_plans
        from apps.runs.services import arrived

        arrived.connect(advance_plans, dispatch_uid="plans")
