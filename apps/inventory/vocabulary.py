"""The field's fixed words, as choices."""

from django.db import models


class Absence(models.TextChoices):
    """Why a field is empty. The three differ: a report that prints no cache size is not a controller without a cache."""

    NOT_PRINTED = "not_printed", "not reported"
    UNKNOWN = "unknown", "unknown"
    NONE = "none", "none"


class Source(models.TextChoices):
    DISCOVERED = "discovered", "discovered"
    TYPED = "typed", "entered manually"
    INFERRED = "inferred", "inferred"


class Environment(models.TextChoices):
    NATIVE = "native", "native"
    GUEST = "guest", "guest"


class ControllerKind(models.TextChoices):
    HBA = "hba", "HBA"
    RAID = "raid", "RAID"
    FC = "fc", "Fibre Channel"
    NVME = "nvme", "NVMe"
    IDE = "ide", "IDE"
    VIRTIO = "virtio", "virtio"
    ZERO_CHANNEL = "zero-channel", "zero-channel RAID"


class CacheProtection(models.TextChoices):
    NONE = "none", "none"
    BATTERY = "battery", "battery"
    NON_VOLATILE = "non-volatile", "non-volatile"


class Interface(models.TextChoices):
    SCSI = "SCSI", "SCSI"
    SATA = "SATA", "SATA"
    SAS = "SAS", "SAS"
    NVME = "NVMe", "NVMe"
    FC = "FC", "FC"
    PATA = "PATA", "PATA"
    VIRTIO = "virtio", "virtio"


class RaidLevel(models.TextChoices):
    RAID0 = "0", "RAID 0"
    RAID1 = "1", "RAID 1"
    RAID4 = "4", "RAID 4"
    RAID5 = "5", "RAID 5"
    RAID6 = "6", "RAID 6"
    RAID10 = "10", "RAID 10"
    RAID50 = "50", "RAID 50"
    RAID60 = "60", "RAID 60"
    JBOD = "jbod", "JBOD"
    LINEAR = "linear", "linear"
    SINGLE = "single", "single"


class RaidImplementation(models.TextChoices):
    HARDWARE = "hardware", "hardware"
    SOFTWARE = "software", "software"
    NONE = "none", "none"


class ArrayState(models.TextChoices):
    CLEAN = "clean", "clean"
    DEGRADED = "degraded", "degraded"
    RESYNCING = "resyncing", "resyncing"
    FAILED = "failed", "failed"


class TargetKind(models.TextChoices):
    DIRECTORY = "directory", "directory"
    FILE = "file", "file"
    DEVICE = "device", "raw device"
    NETWORK = "network", "network peer"


class SectionKind(models.TextChoices):
    FC = "fc", "Fibre Channel"
    SAS = "sas", "SAS"
    SCSI = "scsi", "SCSI"
    NETWORK = "network", "network"
    BUS = "bus", "bus"


class EnclosureKind(models.TextChoices):
    CHASSIS = "chassis", "chassis"
    JBOD = "jbod", "JBOD"


class NamingRule(models.TextChoices):
    """The rule by which device letters follow from slots.

    Driver entry: the entry number is disks per controller × controller + disk, and letters ascend with the entries of
    the disks that are there.
    """

    DRIVER_ENTRY = "driver_entry", "ascending driver entry number"


class Decision(models.TextChoices):
    OPEN = "open", "open"
    TYPED = "typed", "what was typed stays"
    DISCOVERED = "discovered", "what was discovered was taken"


class Author(models.TextChoices):
    """Kinds of authors who change the inventory."""

    PERSON = "person", "a person"
    TOKEN = "token", "a token"
    AGENT = "agent", "an agent"
    COMMAND = "command", "a command"
    IMPORT = "import", "an import"
    SYSTEM = "system", "the system"
