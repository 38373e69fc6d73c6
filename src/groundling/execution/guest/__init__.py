"""What runs inside the sandbox. Standard library only; sent in as text, so nothing of the host need be readable.

`server` waits for plans (`control`) and forks; `isolation` locks the fork up; `program` and `shell` run the untrusted
text; `encode` turns a value into data; `large_pages` makes forks cheaper. Each program's
process can lie about its own result and about nothing else.
"""
