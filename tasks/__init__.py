"""Do it, durably. Every effect happens here, once."""
