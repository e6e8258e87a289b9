"""A grader's server: formgrader is a frame in JupyterLab, and JupyterHub forbids frames unless this is said."""

c = get_config()  # noqa: F821
c.ServerApp.tornado_settings = {"headers": {"Content-Security-Policy": "frame-ancestors 'self'"}}
