"""RAID plans: which disks for which array, what comes of it, and the commands to copy. Pure; nothing is executed anywhere."""
