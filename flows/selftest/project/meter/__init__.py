"""Numbers, words, spans and money."""

VERSION = "0.1.0"
