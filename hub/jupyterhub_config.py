"""JupyterHub's configuration for this course; a file of your own loads it and adds who you are (docs/hub.md).

Who is in the group `graders` sees formgrader, everybody else what students need.
"""

import sys
from pathlib import Path

HUB = Path(__file__).resolve().parent

c = get_config()  # noqa: F821

c.ConfigurableHTTPProxy.command = [f"{sys.prefix}/node_modules/.bin/configurable-http-proxy"]
c.Spawner.cmd = [f"{sys.prefix}/bin/jupyterhub-singleuser"]
c.Spawner.environment = {
    "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",  # nbgrader and autograder, in terminals too
    "COURSE_EXCHANGE": "/srv/nbgrader/exchange",
}


def configure_server(spawner):
    """Which settings a person's server reads."""
    grades = any(group.name == "graders" for group in spawner.user.groups)
    role = HUB / ("grader" if grades else "student")
    spawner.environment["JUPYTER_CONFIG_PATH"] = f"{role}:{HUB / 'everyone'}"


c.Spawner.pre_spawn_hook = configure_server
