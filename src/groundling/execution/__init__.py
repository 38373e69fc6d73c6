"""Running programs nobody trusts: Python, SQL and Bash behind the strongest wall the machine offers."""

from groundling.execution.outcome import Limits, Outcome, Result
from groundling.execution.runner import Runner, run, run_many

__all__ = ["Limits", "Outcome", "Result", "Runner", "run", "run_many"]
