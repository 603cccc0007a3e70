"""smartctl: text and JSON as uploads bring them, and the drives that discovery reads."""
