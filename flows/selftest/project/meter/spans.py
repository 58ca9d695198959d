"""Which stretches of a line are covered?"""

Span = tuple[int, int]


def merge(spans: list[Span]) -> list[Span]:
    """Return the spans in order, those that meet or overlap as one; the list given stays."""
    return spans


def covers(spans: list[Span], point: int) -> bool:
    """Say whether a point lies in one of the spans, both ends included."""
    return any(start <= point <= end for start, end in spans)
