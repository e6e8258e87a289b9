"""The runs behind what the course says: one module each, with its designs, its seeds and its budget in steps."""
