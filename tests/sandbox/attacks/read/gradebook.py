# Looks for a gradebook, and prints everybody's grades.
import sqlite3, glob

paths = glob.glob("/**/gradebook.db", recursive=True)
print([sqlite3.connect(f).execute("select * from grade").fetchall() for f in paths])
