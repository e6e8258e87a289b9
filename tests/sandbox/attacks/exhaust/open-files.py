# Opens files without end.
fs = []
while True:
    fs.append(open("/kernel.py"))
