"""Claims about one factor with everything else held equal: what is claimed, and its verdict from the question's answer."""
