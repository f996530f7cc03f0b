"""Tables of names, written as text: a quote around each of a thousand names would hide what is in them."""


def names(*lines: str) -> tuple[str, ...]:
    """The words of all lines."""
    return tuple(word for line in lines for word in line.split())
