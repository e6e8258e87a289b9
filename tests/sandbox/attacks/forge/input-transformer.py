# Turns every later cell into `pass` before it is parsed.
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\n"])
