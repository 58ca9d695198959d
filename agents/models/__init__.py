"""Where replies come from: a live provider, a recording or a script."""
