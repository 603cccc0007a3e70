from django.urls import include, path

from apps.comparison import views
from apps.comparison.like_for_like import views as question_views
from apps.comparison.saved_comparisons import views as saved_views
from apps.comparison.side_by_side import views as side_by_side_views

urlpatterns = [
    path("compare/", views.compare, name="compare"),
    path("compare/filters/", views.filters, name="compare-filters"),
    path("compare/side-by-side/", side_by_side_views.side_by_side, name="side-by-side"),
    path("compare/side-by-side/choose/", side_by_side_views.chooser, name="side-by-side-chooser"),
    path("compare/free/", views.free, name="free-comparison"),
    path("compare/questions/<slug:factor>/", question_views.question, name="question"),
    path("comparisons/", saved_views.comparisons, name="comparisons"),
    path("comparisons/<int:pk>/", saved_views.saved, name="saved-comparison"),
    path("comparisons/<int:pk>/rename/", saved_views.rename, name="saved-comparison-rename"),
    path("comparisons/<int:pk>/delete/", saved_views.delete, name="saved-comparison-delete"),
    path("", include("apps.comparison.claims.urls")),
    path("", include("apps.comparison.in_studies.urls")),
]
