"""When is the gate itself put to the test? Cheats that it must refuse, and honest patches that it must pass."""
