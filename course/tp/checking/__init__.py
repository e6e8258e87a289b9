"""What runs in the notebook, in the sandbox and in the judge alike: replay a check, describe what came out, compare."""
