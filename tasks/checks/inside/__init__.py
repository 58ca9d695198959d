"""What runs on the other side, in the sandbox or in the mission's interpreter; it imports nothing of LRA."""
