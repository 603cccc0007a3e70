from django.urls import include, path
from django.views.i18n import set_language

from apps.dashboard.health import healthz
from apps.dashboard.security import security, security_txt

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("agent/", include("apps.agents.urls")),
    path(".well-known/security.txt", security_txt, name="security-txt"),
    path("security/", security, name="security"),
    path("language/", set_language, name="set_language"),
    path("accounts/", include("apps.labs.account_urls")),
    path("", include("apps.dashboard.urls")),
    path("", include("apps.comparison.urls")),  # early: Django tries one after the other, and these pages compute most
    path("trends/", include("apps.trends.urls")),
    path("trends/", include("apps.notifications.urls")),
    path("", include("apps.inventory.urls")),
    path("", include("apps.runs.urls")),
    path("", include("apps.studies.plans.urls")),
    path("", include("apps.plans.urls")),
    path("", include("apps.labs.urls")),
    path("", include("apps.studies.urls")),
    path("", include("apps.uploads.urls")),
    path("", include("apps.search.urls")),
    path("", include("apps.wiki.urls")),
    path("", include("apps.api.urls")),
    path("", include("apps.dashboard.study_urls")),
]

handler400 = "apps.dashboard.errors.bad_request"
handler403 = "apps.dashboard.errors.forbidden"
handler404 = "apps.dashboard.errors.not_found"
handler500 = "apps.dashboard.errors.failed"
