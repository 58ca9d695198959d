"""When? Order, waiting, humans and the console."""
