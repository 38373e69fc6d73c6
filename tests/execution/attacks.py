# ruff: noqa: E501
"""Programs that try to break out. Each says what it must not achieve; `answer` evaluates to False when it was stopped.

They are run one after another on one warm server, each followed by an honest program whose result must be right.
"""

import platform
from dataclasses import dataclass

SECRET = "groundling-secret-9d1f"  # stands in a file on the host, under a name that {secret} gives


@dataclass(frozen=True)
class Attack:
    name: str
    code: str
    input: str = "attack()"
    statuses: tuple[str, ...] = ("ok", "error")
    processes: int = 0
    seconds: float = 10.0  # a busy machine must not turn another end into a time-out
    needs_namespaces: bool = False


def tries(*bodies: str) -> str:
    """A function `attack` that is True when any of the bodies (one-line expressions) gets through."""
    lines = ["import os, sys, ctypes", "def attack():", "    won = False"]
    for body in bodies:
        lines += ["    try:", f"        won = won or bool({body})", "    except BaseException: pass"]
    return "\n".join([*lines, "    return won"])


STRAY = """
import os, time
def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            time.sleep(60)
        os._exit(0)
    return False
"""

# The interpreter may itself lie in a home: the folders on the way to it are there, empty but for that way.
OUTSIDE = "not any((p + '/').startswith({path} + '/') for p in (sys.prefix, sys.base_prefix))"
HOMES = "[x for x in os.listdir('/home') if " + OUTSIDE.format(path="'/home/' + x") + "]"
IN_HOMES = (
    "[y for x in os.listdir('/home') for y in os.listdir('/home/' + x) if "
    + OUTSIDE.format(path="'/home/' + x + '/' + y")
    + "]"
)

NUMBER = 220 if platform.machine() == "aarch64" else 56  # of clone
SERVER_FLAGS = ("0x20021011", "0x1011")  # execution.filters.FORK

ATTACKS = [
    # files
    Attack("read a secret", tries("open({secret!r}).read()")),
    Attack("read shadow and keys", tries("open('/etc/shadow').read()", "os.listdir('/root/.ssh')")),
    Attack(
        "read environment of others", tries("b'=' in open('/proc/1/environ', 'rb').read().replace(b'LC_', b'')[:0]")
    ),
    Attack("list homes", tries(HOMES, IN_HOMES)),
    Attack("list a neighbour's folder", tries("os.listdir({folder!r})")),
    Attack("write beside the secret", tries("open({folder!r} + '/owned', 'w').write('x')")),
    Attack(
        "write into the interpreter",
        tries("open(os.__file__, 'a').write('x')", "open(sys.executable, 'ab').write(b'x')"),
    ),
    Attack(
        "write into /usr, /etc, /dev, /", tries(*[f"open({p!r}, 'w')" for p in ("/usr/x", "/etc/x", "/dev/x", "/x")])
    ),
    Attack("write into /dev/shm", tries("open('/dev/shm/x', 'w').write('x')")),
    Attack("symlink out of /tmp", tries("os.symlink({secret!r}, '/tmp/link') or open('/tmp/link').read()")),
    Attack("hard link out of /tmp", tries("os.link({secret!r}, '/tmp/hard') or open('/tmp/hard').read()")),
    Attack(
        "reach out through /proc root and cwd",
        tries(
            "open('/proc/1/root' + {secret!r}).read()",
            "open('/proc/self/root' + {secret!r}).read()",
            "open('/proc/1/cwd/..' + {secret!r}).read()",
        ),
    ),
    Attack(
        "chmod and rename the secret",
        tries("os.chmod({secret!r}, 0o777) is None", "os.rename({secret!r}, '/tmp/s') is None"),
    ),
    Attack("delete the folder", "import shutil\ndef attack():\n    shutil.rmtree({folder!r})\n    return True"),
    Attack("leave something for the next", "def attack():\n    open('/tmp/left', 'w').write('x')\n    return False"),
    Attack("find what the last one left", tries("open('/tmp/left').read()")),
    Attack("escape by chroot", tries("os.chroot('/tmp') is None")),
    Attack("mount", tries("ctypes.CDLL(None).mount(b'tmpfs', b'/usr', b'tmpfs', 0, None) == 0")),
    Attack(
        "new namespaces", tries("ctypes.CDLL(None).unshare(0x10000000) == 0", "ctypes.CDLL(None).unshare(0x20000) == 0")
    ),
    Attack(
        "fork as the server does",
        tries(*[f"ctypes.CDLL(None).syscall({NUMBER}, {flags}, 0, 0, 0, 0) >= 0" for flags in SERVER_FLAGS]),
    ),
    Attack(
        "new user namespace by clone and clone3",
        tries(
            f"ctypes.CDLL(None).syscall({NUMBER}, 0x10000011, 0, 0, 0, 0) >= 0",
            f"ctypes.CDLL(None).syscall({NUMBER}, 0x30021011, 0, 0, 0, 0) >= 0",
            "ctypes.CDLL(None).syscall(435, (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17), 64) >= 0",
        ),
    ),
    Attack(
        "capabilities back",
        tries(
            "ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(1 << 21, 1 << 21)) == 0",
            "ctypes.CDLL(None).prctl(47, 2, 21, 0, 0) == 0",
        ),
    ),
    Attack(
        "add a filter",
        tries("ctypes.CDLL(None).prctl(22, 2, 0, 0, 0) == 0", "ctypes.CDLL(None).prctl(22, 1, 0, 0, 0) == 0"),
    ),
    Attack(
        "mount and unmount one's own /tmp",
        tries(
            "ctypes.CDLL(None).mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None) == 0",
            "ctypes.CDLL(None).mount(b'/usr', b'/tmp', None, 4096, None) == 0",
            "ctypes.CDLL(None).umount2(b'/tmp', 2) == 0",
        ),
    ),
    Attack(
        "open by handle, kernel keys, bpf, io_uring",
        tries(*[f"ctypes.CDLL(None).syscall({n}, 0, 0, 0, 0, 0) >= 0" for n in (304, 248, 321, 425, 323, 298)]),
    ),
    Attack(
        "fill /tmp",
        "def attack():\n    for i in range(100):\n        open(f'/tmp/{{i}}', 'wb').write(b'x' * 10**7)\n    return True",
    ),
    Attack(
        "one huge file",
        "def attack():\n    f = open('/tmp/big', 'wb')\n    for i in range(100): f.write(b'x' * 10**7)\n    return True",
        statuses=("ok", "error"),
    ),
    Attack("a million names", "def attack():\n    for i in range(10**6): open(f'/tmp/{{i}}', 'w')\n    return True"),
    # processes and signals
    Attack("fork bomb", "import os\ndef attack():\n    while True: os.fork()", statuses=("error", "timeout")),
    Attack(
        "fork bomb where forking is allowed",
        "import os\ndef attack():\n    while True:\n        try: os.fork()\n        except OSError: pass",
        statuses=("timeout",),
        processes=8,
        seconds=1,
        needs_namespaces=True,
    ),
    Attack("a stray in its own session", STRAY, processes=8, needs_namespaces=True),
    Attack("a stray without leave", STRAY, statuses=("error",)),
    Attack("start a shell", tries("os.system('true') == 0", "os.execv('/bin/sh', ['sh', '-c', 'sleep 60'])")),
    Attack(
        "kill everyone",
        "import os, signal\ndef attack():\n    for pid in (-1, 0, 1, 2, os.getppid()):\n        try: os.kill(pid, 9)\n        except OSError: pass\n    return False",
        statuses=("ok", "error", "memory"),
    ),
    Attack("signal the server", tries("os.kill(os.getppid(), 15) is None and os.getppid() > 1")),
    Attack(
        "ignore SIGTERM and SIGXCPU and loop",
        "import signal\nfor s in range(1, 64):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ndef attack():\n    while True: pass",
        statuses=("timeout",),
        seconds=1,
    ),
    Attack("endless loop in C", "def attack():\n    return sum(iter(int, 1))", statuses=("timeout",), seconds=1),
    Attack(
        "catastrophic regular expression",
        "import re\ndef attack():\n    return re.match('(a+)+b', 'a' * 60)",
        statuses=("timeout",),
        seconds=1,
    ),
    Attack("sleep for ever", "import time\ndef attack():\n    time.sleep(1e6)", statuses=("timeout",), seconds=1),
    Attack(
        "threads that never end",
        "import threading, time\ndef attack():\n    for _ in range(5): threading.Thread(target=lambda: time.sleep(60)).start()\n    return False",
    ),
    Attack(
        "a thread bomb",
        "import threading, time\ndef attack():\n    while True: threading.Thread(target=lambda: time.sleep(60)).start()",
        statuses=("error", "memory", "timeout"),
    ),
    Attack(
        "trace or read other processes",
        tries(
            "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
            "ctypes.CDLL(None).syscall(310, os.getppid(), 0, 0, 0, 0, 0) == 0",
            "open(f'/proc/{{os.getppid()}}/mem', 'rb')",
        ),
    ),
    Attack(
        "raise one's limits",
        tries(
            "__import__('resource').setrlimit(0, (-1, -1)) is None",
            "__import__('resource').prlimit(os.getppid(), 0, (1, 1)) and False",
        ),
    ),
    Attack("change scheduling", tries("os.nice(-5) < 0", "os.sched_setscheduler(0, 1, os.sched_param(50)) is None")),
    # memory and size
    Attack(
        "memory bomb",
        "def attack():\n    x = []\n    while True: x.append(bytes(10**8))",
        statuses=("memory",),
        seconds=20,
    ),
    Attack(
        "a list that doubles",
        "def attack():\n    x = [0]\n    while True: x = x + x",
        statuses=("memory", "timeout"),
        seconds=3,
    ),
    Attack(
        "memory by mmap and memfd", tries("len(__import__('mmap').mmap(-1, 1 << 33)) > 0", "os.memfd_create('x') >= 0")
    ),
    Attack(
        "shared memory",
        tries("ctypes.CDLL(None).shmget(0, 4096, 0o1666) >= 0", "ctypes.CDLL(None).msgget(0, 0o1666) >= 0"),
    ),
    Attack("a gigabyte of output", "def attack():\n    while True: print('x' * 100000)", statuses=("output_limit",)),
    Attack(
        "a gigabyte on stderr",
        "import sys\ndef attack():\n    while True: sys.stderr.write('x' * 100000)",
        statuses=("output_limit",),
    ),
    Attack("a huge result", "def attack():\n    return 'x' * 50_000_000", statuses=("output_limit",)),
    Attack(
        "a billion parts in one list",
        "def attack():\n    a = []\n    for _ in range(60): a = [a, a]\n    return a",
        statuses=("output_limit",),
    ),
    Attack(
        "a list that holds itself",
        "def attack():\n    a = []\n    a.append(a)\n    return a",
        statuses=("output_limit",),
    ),
    Attack("a huge integer", "def attack():\n    return 10 ** 500_000", statuses=("ok", "output_limit")),
    Attack("an endless power", "def attack():\n    return 9 ** 9 ** 9", statuses=("timeout", "memory"), seconds=1),
    Attack(
        "deep recursion",
        "import sys\nsys.setrecursionlimit(10**9)\ndef attack():\n    return attack()",
        statuses=("error", "memory", "timeout"),
        seconds=1,
    ),
    Attack(
        "deep nesting in the source", "attack = lambda: " + "(" * 5000 + "1" + ")" * 5000, statuses=("error", "memory")
    ),
    Attack("exhausted file descriptors", "import os\ndef attack():\n    while True: os.dup(1)", statuses=("error",)),
    Attack(
        "closed file descriptors",
        "import os\ndef attack():\n    os.closerange(0, 1000)\n    return True",
        statuses=("error",),
    ),
    # the result channel
    Attack(
        "forge results on every descriptor",
        'import os\nline = b\'{{"nonce":"start","index":0,"value":666}}\\n\'\ndef attack():\n    for fd in range(3, 300):\n        try: os.write(fd, line * 50)\n        except OSError: pass\n    return False',
    ),
    Attack(
        "garbage on every descriptor",
        "import os\ndef attack():\n    for fd in range(3, 300):\n        try: os.write(fd, b'\\x00\\xff{{[[' * 99 + b'\\n')\n        except OSError: pass\n    return False",
    ),
    Attack("leave with success", "import os\nos._exit(0)", statuses=("error",)),
    Attack("sys.exit(0)", "import sys\nsys.exit(0)", statuses=("error",)),
    Attack("crash in C", "import ctypes\ndef attack():\n    ctypes.string_at(0)", statuses=("error",)),
    Attack("abort", "import os\ndef attack():\n    os.abort()", statuses=("error",)),
    Attack(
        "patched builtins",
        "import builtins, json, os\nfor name in ('len', 'repr', 'sorted', 'isinstance', 'type', 'compile', 'eval'):\n    setattr(builtins, name, None)\njson.dumps = os.write = None\ndef attack():\n    return True",
        statuses=("error",),
    ),
    Attack(
        "a pickled exploit",
        "class Evil:\n    def __reduce__(self):\n        import os\n        return os.system, ('touch {folder}/owned',)\ndef attack():\n    return Evil()",
    ),
    Attack(
        "poisoned comparison and display",
        "class Evil(int):\n    def __eq__(self, other): raise SystemExit('owned')\n    def __hash__(self): return 0\n    def __repr__(self): raise SystemExit('owned')\n    __str__ = __index__ = __int__ = __bool__ = __repr__\ndef attack():\n    return Evil(0)",
    ),
    Attack(
        "an error with a poisoned message",
        "class Evil(Exception):\n    def __str__(self): raise SystemExit\ndef attack():\n    raise Evil",
        statuses=("error",),
    ),
    Attack("read stdin", "def attack():\n    return input()", statuses=("error",)),
    Attack("take the terminal", tries("open('/dev/tty').read()", "__import__('fcntl').ioctl(0, 0x5412, b'x')")),
    # network and clock
    Attack(
        "sockets",
        tries(
            "__import__('socket').socket()",
            "__import__('socket').socket(16, 3, 0)",
            "__import__('socket').create_connection(('127.0.0.1', 22), 1)",
        ),
    ),
    Attack("unix sockets", tries("__import__('socket').socket(1, 1).connect('/run/dbus/system_bus_socket') is None")),
    Attack("set the clock", tries("__import__('time').clock_settime(0, 0) is None")),
    Attack(
        "a patched clock",
        "import time\ntime.monotonic = time.time = lambda: 0.0\ndef attack():\n    while True: pass",
        statuses=("timeout",),
        seconds=1,
    ),
    Attack("change the host name", tries("__import__('socket').sethostname('owned') is None")),
]
