"""Where students' code runs, and how it is held."""
