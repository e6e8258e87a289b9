"""The address of a course on the web, and the links to Colab and Binder that follow from it."""

import re
from dataclasses import dataclass, replace
from urllib.parse import quote

from ..course import CourseError

COLAB = "colab"  # the folder of the public repository with the notebooks that stand alone


@dataclass(frozen=True)
class Address:
    """An address on the web. ``repository`` is OWNER/NAME on GitHub, with a branch and a folder; empty elsewhere, where
    ``url`` says all."""

    url: str
    repository: str = ""
    branch: str = ""
    folder: str = ""

    def file(self, name: str) -> str:
        """Return the address of a file's bytes."""
        base = f"https://raw.githubusercontent.com/{self.repository}/{self.branch}/{self.folder}" \
            if self.repository else self.url
        return f"{base.rstrip('/')}/{quote(name)}"

    def colab(self, name: str) -> str:
        """Return the address that opens a notebook in Colab, which reads from GitHub."""
        path = "/".join(filter(None, [self.folder, name]))
        return f"https://colab.research.google.com/github/{self.repository}/blob/{self.branch}/{quote(path)}"

    def binder(self, name: str) -> str:
        """Return the address that opens a notebook in Binder."""
        path = "/".join(filter(None, [self.folder, name]))
        repository = f"{self.repository}/{quote(self.branch, safe='')}"
        return f"https://mybinder.org/v2/gh/{repository}?labpath={quote(path, safe='')}"


def parse_address(url: str) -> Address:
    """Read an address as a person types it: ``https://github.com/OWNER/NAME[/tree/BRANCH[/FOLDER]]``, or any other."""
    if not re.match(r"https?://[^\s\"'\\]+$", url):
        raise CourseError(f"{url!r} is no address: it is to begin with https://")
    match = re.fullmatch(r"https?://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?(?:/tree/([\w.-]+)(?:/(.+?))?)?/*", url)
    return Address(url, match[1], match[2] or "main", match[3] or "") if match else Address(url.rstrip("/"))


def colab_address(url: str) -> Address:
    """Return the address of the notebooks for Colab; ``url`` is theirs, or that of the public repository."""
    address = parse_address(url)
    if address.folder or address.url.endswith(f"/{COLAB}"):
        return address
    return replace(address, folder=COLAB) if address.repository else Address(f"{address.url}/{COLAB}")
