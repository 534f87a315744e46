"""Colours of all charts, distinguishable for all readers, in print and on a dark page."""

BREACH = "#d55e00"  # vermilion: the only warm colour of a chart
PROTECTED = ("#d6e6f4", "#a3cce3", "#5fa6d1", "#2878b5", "#0b3c7d")  # darker: better protected
INK, FAINT = "#1f2933", "#7b8794"
LINES = ("#0b3c7d", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f5539", "#555555", "#6a3d9a", "#00798c")


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the red, green and blue components of a colour.

    >>> rgb("#d55e00")
    (213, 94, 0)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
