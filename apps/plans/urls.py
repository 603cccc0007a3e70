from django.urls import path

from apps.plans import views
from apps.plans.estimates import views as estimates
from apps.plans.schedules import views as schedules

urlpatterns = [
    path("plans/", views.plans, name="plans"),
    path("plans/new/", views.new, name="plan-make"),
    path("plans/new/estimate/", estimates.estimate, name="plan-make-estimate"),
    path("plans/<int:pk>/", views.plan, name="plan"),
    path("plans/<int:pk>/results/", views.results, name="plan-results"),
    path("plans/<int:pk>/cancel/", views.cancel, name="plan-cancel"),
    path("plans/<int:pk>/recipients/", views.recipients, name="plan-recipients"),
    path("plans/<int:pk>/schedule/", schedules.schedule, name="plan-schedule"),
    *(
        path(f"plans/<int:pk>/schedule/{act}/", schedules.act, {"act": act}, name=f"plan-schedule-{act}")
        for act in ("pause", "resume", "remove")
    ),
    *(
        path(f"plans/<int:pk>/{act}/", views.act, {"act": act}, name=f"plan-{act}")
        for act in ("start", "pause", "resume", "retry", "repetitions", "priority")
    ),
]
