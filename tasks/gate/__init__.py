"""The merge gate: everything that stands between a candidate tree and the target branch. `decide` is the door."""
