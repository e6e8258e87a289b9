"""From what an instructor writes to what is released and recorded."""
