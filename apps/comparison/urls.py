from django.urls import path

from apps.comparison import views

urlpatterns = [path("compare/", views.compare, name="compare")]
