"""mdadm: its reports as uploads bring them, and the arrays that discovery reads."""
