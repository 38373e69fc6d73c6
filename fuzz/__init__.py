"""Coverage-guided fuzzing of every reader: `python -m fuzz --help`. Needs `pip install 'groundling[fuzz]'`."""
