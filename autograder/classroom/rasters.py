"""Pictures made of pixels, known by their first bytes: a name makes no picture, and none of these holds a script."""

import re

HEAD = 16  # bytes that tell
KINDS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}


def raster(data: bytes) -> str | None:
    """Return the media type of a PNG, JPEG, GIF or WebP; None for anything else, SVG included."""
    return next((kind for kind, start in KINDS.items() if start.match(data)), None)
