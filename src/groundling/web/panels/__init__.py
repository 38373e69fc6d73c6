"""The panels: each a request and a function from it to an `Answer`. They are listed in `web/app.py`."""
