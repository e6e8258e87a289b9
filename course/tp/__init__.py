"""The helper package of the course: what the notebooks import."""

from .checking.selfcheck import case, check, done, progress, start
from .experiments import experiment
from .explorer import Step, explore
from .plots import attention_difference, attention_evolution, attention_heatmap, attention_heatmaps, show, table
from .training import live, quick

__all__ = [
    "Step", "attention_difference", "attention_evolution", "attention_heatmap", "attention_heatmaps",
    "case", "check", "done", "experiment", "explore", "live", "progress", "quick", "show", "start", "table",
]
