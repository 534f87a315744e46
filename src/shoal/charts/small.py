"""Small numbers that are not told."""


def blurred(number: int, least: int) -> str:
    """Write a number of persons; one below ``least`` only as that. None at all may be told.

    >>> blurred(12, 11), blurred(3, 11), blurred(0, 11), blurred(3, 1)
    ('12', 'fewer than 11', '0', '3')
    """
    return f"fewer than {least:,}" if 0 < number < least else f"{number:,}"
