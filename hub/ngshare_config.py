"""ngshare in the place of the shared folder. A file of your own loads it after jupyterhub_config.py (docs/hub.md).

The hub starts it as a service. What is handed in lies in the folder `ngshare`, beside the hub's own files.
"""

import sys
from pathlib import Path

SERVICE = "http://127.0.0.1:10101"
KEPT = Path("ngshare").resolve()
KEPT.mkdir(mode=0o700, exist_ok=True)

c = get_config()  # noqa: F821

c.JupyterHub.services = [{
    "name": "ngshare",
    "url": SERVICE,
    "command": [f"{sys.prefix}/ngshare/bin/python", "-m", "ngshare", "--database", f"sqlite:///{KEPT}/ngshare.db",
                "--storage", str(KEPT / "files")],
}]
c.Spawner.environment.update({"COURSE_NGSHARE": f"{SERVICE}/services/ngshare"})
