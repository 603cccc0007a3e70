"""storcli and perccli: text and JSON as uploads bring them, and the cards that discovery reads."""
