# Starts threads without end.
# sees: 400 threads are mine
# restriction: processes
import threading, time

for _ in range(400):
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
raise RuntimeError("400 threads are mine")
