from django.apps import AppConfig


class PlansConfig(AppConfig):
    name = "apps.plans"

    def ready(self) -> None:
        from apps.notifications.messages import register
        from apps.plans.notices.messages import SUBJECTS, subject_of, text_of
        from apps.plans.signals import advance_plans
        from apps.runs.services import arrived

        arrived.connect(advance_plans, dispatch_uid="plans")
        for event in SUBJECTS:
            register(event, subject=subject_of, text=text_of)
