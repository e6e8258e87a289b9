"""The files that a kit and a student wheel are made of, as students receive them."""
