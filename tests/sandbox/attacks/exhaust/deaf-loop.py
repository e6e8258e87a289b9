# Never ends, and does not hear when it is told to.
# costs: 6 seconds
# restriction: time
import signal

for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
    signal.signal(s, signal.SIG_IGN)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
