"""Raster images with a palette, one small number per pixel, written as PNG without a library."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.charts.colours import rgb


def png(pixels: NDArray[np.uint8], palette: Sequence[str]) -> bytes:
    r"""Return an indexed PNG: ``pixels[y, x]`` is the index of its colour in the palette.

    >>> import numpy as np
    >>> png(np.zeros((2, 3), np.uint8), ["#ffffff"])[:4]
    b'\x89PNG'
    """
    height, width = pixels.shape
    filtered = np.zeros((height, width + 1), np.uint8)  # each line starts with its filter type: 0 = none
    filtered[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = bytes(part for colour in palette for part in rgb(colour))
    parts = [(b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def inline(picture: bytes) -> str:
    """Return a PNG as a data URI."""
    return "data:image/png;base64," + b64encode(picture).decode()
