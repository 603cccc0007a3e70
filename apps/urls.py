from django.urls import include, path
from django.views.i18n import set_language

from apps.dashboard.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("language/", set_language, name="set_language"),
    path("accounts/", include("allauth.account.urls")),
    path("", include("apps.dashboard.urls")),
    path("", include("apps.comparison.urls")),  # early: Django tries one after the other, and these pages compute most
    path("", include("apps.inventory.urls")),
    path("", include("apps.runs.urls")),
    path("", include("apps.studies.plans.urls")),
    path("", include("apps.labs.urls")),
    path("", include("apps.studies.editing.urls")),
    path("", include("apps.agents.urls")),
    path("", include("apps.uploads.urls")),
    path("", include("apps.search.urls")),
    path("", include("apps.publishing.urls")),
    path("", include("apps.dashboard.study_urls")),
]

handler400 = "apps.dashboard.errors.bad_request"
handler403 = "apps.dashboard.errors.forbidden"
