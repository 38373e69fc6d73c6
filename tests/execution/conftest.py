"""Without the extra `programs` there is no sandbox to test; values and SQL need none."""

from importlib.util import find_spec

NEED_A_SANDBOX = ["test_attacks.py", "test_bash.py", "test_large_pages.py", "test_leaks.py", "test_runner.py"]
collect_ignore = [] if find_spec("pyseccomp") else NEED_A_SANDBOX
