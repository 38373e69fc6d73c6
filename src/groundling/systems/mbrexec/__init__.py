"""MBR-Exec: choose among generated programs by running them (thesis ch. 7)."""

from groundling.systems.mbrexec.cache import Cache
from groundling.systems.mbrexec.evaluate import Graded, curves, table
from groundling.systems.mbrexec.executing import Executed, Run, execute
from groundling.systems.mbrexec.methods import METHODS, Pool, scores_of, select
from groundling.systems.mbrexec.tasks import Task

__all__ = [
    "METHODS",
    "Cache",
    "Executed",
    "Graded",
    "Pool",
    "Run",
    "Task",
    "curves",
    "execute",
    "scores_of",
    "select",
    "table",
]
