"""What a notebook calls: the self-check, a case of a check, hints, provided answers, and handing in."""
