"""A process that has imported everything and forks for each command: a page of ten commands imports torch once.

`python zygote.py SOCKET` serves; the script that STUB makes is put on PATH as `groundling` and `python`, hands its
arguments, folder, environment and open files over, and exits with what the command exited with.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback

STUB = """#!{python} -S
import array, json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect({address!r})
asked = json.dumps([{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(link, [len(asked).to_bytes(4, "big")], [0, 1, 2])
link.sendall(asked)
answer = link.recv(4)
sys.exit(int.from_bytes(answer, "big") if answer else 70)
"""


def serve(address: str) -> None:
    """Fork for whoever asks."""
    import groundling.cli.main
    import groundling.metrics.struct_iou
    import groundling.systems.avnsl
    import groundling.systems.g2l2
    import groundling.systems.mlpalign
    import groundling.systems.subdp
    import groundling.systems.vgnsl  # noqa: F401

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(16)
    print("ready", flush=True)
    while True:
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _answer(link)  # a child that waits for its own child: commands of a pipe run side by side
        link.close()
        while True:  # take leave of those that have ended
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


def _answer(link: socket.socket) -> None:
    head, files, _, _ = socket.recv_fds(link, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "big"):
        asked += link.recv(1 << 16)
    name, words, folder, environment = json.loads(asked)
    worker = os.fork()
    if worker == 0:
        link.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(_run(name, words))
    for file in files:
        os.close(file)
    _, status = os.waitpid(worker, 0)
    link.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    os._exit(0)


def _run(name: str, words: list[str]) -> int:
    import runpy

    from groundling.cli.main import main

    code: object = 0
    try:
        if name == "groundling":
            sys.argv = ["groundling", *words]
            main()
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


if __name__ == "__main__":
    serve(sys.argv[1])
