"""The helper package of the course: what the notebooks import."""

from .plots import attention_heatmap, table
from .selfcheck import check, done, progress, start
from .training import live

__all__ = ["attention_heatmap", "check", "done", "live", "progress", "start", "table"]
