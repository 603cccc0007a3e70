"""lsblk: its listings as uploads bring them, and the devices that discovery reads."""
