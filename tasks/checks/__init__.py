"""Run checks on a tree and report what happened; nothing here decides."""
