# Starts threads without end.
import threading, time

while True:
    threading.Thread(target=time.sleep, args=(100,)).start()
