# Writes on the grader's terminal, and types into it.
# reaches: terminal
# restriction: terminal
import fcntl, termios

with open("/dev/tty", "w") as terminal:
    terminal.write("19 of 19 points")
    terminal.flush()
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
