from django.urls import include, path

from apps.inventory.raid_plans.views import raid_plan
from apps.inventory.views import bulk, decisions, files, merge, parts, snapshots

urlpatterns = [
    path("hosts/", parts.hosts, name="hosts"),
    path("controllers/", parts.controllers, name="controllers"),
    path("controllers/<int:pk>/", parts.controller, name="controller"),
    path("disks/", parts.disks, name="disks"),
    path("disks/<int:pk>/", parts.disk, name="disk"),
    path("arrays/", parts.arrays, name="arrays"),
    path("arrays/<int:pk>/", parts.array, name="array"),
    path("filesystems/", parts.filesystems, name="filesystems"),
    path("filesystems/<int:pk>/", parts.filesystem, name="filesystem"),
    path("targets/", parts.targets, name="targets"),
    path("targets/<int:pk>/", parts.target, name="target"),
    path("enclosures/", parts.enclosures, name="enclosures"),
    path("nics/", parts.nics, name="nics"),
    path("nics/<int:pk>/", parts.nic, name="nic"),
    path("switches/", parts.switches, name="switches"),
    path("switches/<int:pk>/", parts.switch, name="switch"),
    path("snapshots/", parts.snapshots, name="snapshots"),
    path("snapshots/compare/", snapshots.compare, name="snapshot-compare"),
    path("snapshots/<int:pk>/", parts.snapshot, name="snapshot"),
    path("", include("apps.inventory.slots.urls")),
    path("hosts/<int:pk>/raid-plan/", raid_plan, name="host-raid-plan"),
    path("differences/<int:pk>/", decisions.decide_difference, name="difference-decide"),
    path("inventory/files/", files.files, name="inventory-files"),
    path("inventory/export/", files.export, name="inventory-export"),
    path("inventory/import/", files.bring, name="inventory-bring"),
    path("inventory/imports/<int:pk>/", files.one_import, name="inventory-import"),
    path("inventory/edit-many/<str:kind>/", bulk.many, name="inventory-edit-many"),
    path("inventory/duplicates/", merge.duplicates, name="inventory-duplicates"),
    path("inventory/merge/<str:kind>/", merge.merge_two, name="inventory-merge"),
    path("tool-outputs/<int:pk>/", parts.tool_output, name="tool-output"),
    path("", include("apps.inventory.editing.urls")),
]
