# Fetches a page.
import urllib.request

urllib.request.urlopen("http://example.org", timeout=1)
