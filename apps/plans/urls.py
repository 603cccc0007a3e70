from django.urls import path

from apps.plans import views

urlpatterns = [
    path("plans/", views.plans, name="plans"),
    path("plans/new/", views.new, name="plan-make"),
    path("plans/<int:pk>/", views.plan, name="plan"),
    path("plans/<int:pk>/cancel/", views.cancel, name="plan-cancel"),
    *(
        path(f"plans/<int:pk>/{act}/", views.act, {"act": act}, name=f"plan-{act}")
        for act in ("start", "pause", "resume", "retry", "repetitions")
    ),
]
