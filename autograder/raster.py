"""Recognise raster pictures by their first bytes, not by their names; none of these formats can hold a script."""

import re

SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}


def raster_type(data: bytes) -> str | None:
    """Return the media type of a PNG, JPEG, GIF or WebP; None for anything else, SVG included."""
    return next((kind for kind, start in SIGNATURES.items() if start.match(data)), None)
