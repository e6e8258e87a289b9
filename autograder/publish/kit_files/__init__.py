"""The files that a kit is made of, as students receive them."""
