"""Where work comes from and goes back to: Moodle and Canvas; and where the judge goes itself: Gradescope, GitHub."""
