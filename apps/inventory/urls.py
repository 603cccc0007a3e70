from django.urls import path

from apps.inventory import views

urlpatterns = [
    path("hosts/", views.hosts, name="hosts"),
    path("controllers/", views.controllers, name="controllers"),
    path("controllers/<int:pk>/", views.controller, name="controller"),
    path("disks/", views.disks, name="disks"),
    path("disks/<int:pk>/", views.disk, name="disk"),
    path("arrays/", views.arrays, name="arrays"),
    path("arrays/<int:pk>/", views.array, name="array"),
    path("filesystems/", views.filesystems, name="filesystems"),
    path("filesystems/<int:pk>/", views.filesystem, name="filesystem"),
    path("targets/", views.targets, name="targets"),
    path("targets/<int:pk>/", views.target, name="target"),
    path("snapshots/", views.snapshots, name="snapshots"),
    path("snapshots/<int:pk>/", views.snapshot, name="snapshot"),
    path("tool-outputs/<int:pk>/", views.tool_output, name="tool-output"),
]
