# Opens files without end.
# sees: 300 files are open
# restriction: open files
fs = []
while len(fs) < 300:
    fs.append(open("/kernel.py"))
raise RuntimeError("300 files are open")
