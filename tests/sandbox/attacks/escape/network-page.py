# Fetches a page from a server of the grader's machine.
# reaches: port
# restriction: network
import urllib.request

urllib.request.urlopen("http://127.0.0.1:47113/", timeout=1)
