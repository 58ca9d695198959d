"""The lra command: parse, call one function, print."""
