from django.urls import include, path

from apps.comparison import saved_views, views
from apps.comparison.side_by_side import views as side_by_side_views

urlpatterns = [
    path("compare/", views.compare, name="compare"),
    path("compare/filters/", views.filters, name="compare-filters"),
    path("compare/side-by-side/", side_by_side_views.side_by_side, name="side-by-side"),
    path("compare/side-by-side/choose/", side_by_side_views.chooser, name="side-by-side-chooser"),
    path("comparisons/", saved_views.comparisons, name="comparisons"),
    path("comparisons/<int:pk>/", saved_views.saved, name="saved-comparison"),
    path("comparisons/<int:pk>/rename/", saved_views.rename, name="saved-comparison-rename"),
    path("comparisons/<int:pk>/delete/", saved_views.delete, name="saved-comparison-delete"),
    path("trends/", include("apps.comparison.trends.urls")),
    path("", include("apps.comparison.claiming.urls")),
    path("", include("apps.comparison.in_studies.urls")),
]
