from django.urls import path, re_path

from apps.plans import views

urlpatterns = [
    path("plans/", views.plans, name="plans"),
    path("plans/new/", views.new, name="plan-make"),
    path("plans/<int:pk>/", views.plan, name="plan"),
    path("plans/<int:pk>/cancelling/", views.cancel, name="plan-cancel"),
    re_path(r"^plans/(?P<pk>\d+)/(?P<act>start|pause|resume|cancel|retry|repetitions)/$", views.act, name="plan-act"),
]
