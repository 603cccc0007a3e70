from django.urls import include, path

from apps.dashboard.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("accounts/", include("allauth.account.urls")),
    path("", include("apps.dashboard.urls")),
    path("", include("apps.inventory.urls")),
    path("", include("apps.runs.urls")),
    path("", include("apps.labs.urls")),
    path("", include("apps.comparison.urls")),
    path("", include("apps.agents.urls")),
    path("", include("apps.uploads.urls")),
    path("", include("apps.search.urls")),
    path("", include("apps.publishing.urls")),
]

handler403 = "apps.dashboard.errors.forbidden"
