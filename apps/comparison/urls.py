from django.urls import path

from apps.comparison import saved_views, views

urlpatterns = [
    path("compare/", views.compare, name="compare"),
    path("compare/filters/", views.filters, name="compare-filters"),
    path("comparisons/", saved_views.comparisons, name="comparisons"),
    path("comparisons/<int:pk>/", saved_views.saved, name="saved-comparison"),
    path("comparisons/<int:pk>/rename/", saved_views.rename, name="saved-comparison-rename"),
    path("comparisons/<int:pk>/delete/", saved_views.delete, name="saved-comparison-delete"),
]
