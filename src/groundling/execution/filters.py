"""The system calls a program may make: an allow-list, compiled to BPF once on the host. All others fail with EPERM.

The server puts itself behind the list, and its programs inherit it: a filter of their own would cost each of them a
quarter of a millisecond, and every core of the machine an interruption. So the list has the few calls with which the
server locks a program up. Behind namespaces these are refused to a program all the same, because it has given up every
capability: the kernel asks for one in each of them, and `clone` is let through with exactly the server's flags, which
need one, too. At the level without namespaces a short second filter takes them away.
"""

from __future__ import annotations

import errno
import functools
import tempfile
from typing import Any

from groundling.errors import ExecutionError
from groundling.names import require

# Computing, memory, files by name and descriptor, clocks, threads, waiting. No sockets by address, no keys, no mounts,
# no namespaces, no tracing, no other process's memory, no kernel modules, no io_uring, bpf, userfaultfd or perf.
_ALWAYS = """
access alarm arch_prctl brk capget chdir clock_getres clock_gettime clock_nanosleep close close_range copy_file_range
creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 exit
exit_group faccessat faccessat2 fadvise64 fallocate fchdir fcntl fdatasync flock fstat fstatfs fsync ftruncate futex
futex_waitv get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpgid getpgrp
getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid gettid gettimeofday getuid
inotify_add_watch inotify_init inotify_init1 inotify_rm_watch lgetxattr link linkat listxattr llistxattr getxattr
fgetxattr flistxattr lseek lstat madvise membarrier mincore mkdir mkdirat mlock mlock2 mmap mprotect mremap msync
munlock munmap nanosleep newfstatat open openat pause pipe pipe2 poll ppoll pread64 preadv preadv2 pselect6 pwrite64
pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmsg rename renameat renameat2 restart_syscall
rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_yield select sendfile sendmsg sendto
set_robust_list set_tid_address setitimer setrlimit sigaltstack signalfd signalfd4 splice stat statfs statx symlink
symlinkat sync_file_range sysinfo tee time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
timerfd_create timerfd_gettime timerfd_settime times truncate umask uname unlink unlinkat vmsplice wait4 waitid write
writev shutdown getsockopt setsockopt getsockname getpeername
"""
# Harmless behind namespaces and read-only mounts; without them they could reach the user (Landlock covers none).
_BEHIND_NAMESPACES = """
chmod fchmod fchmodat fchmodat2 chown fchown fchownat lchown utime utimes utimensat futimesat kill tkill tgkill
rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal setpgid setsid mknod mknodat setpriority
"""
_PROCESSES = "fork vfork execve execveat"
# With what a program is locked up: its own capabilities stop it from using the first two lists, a filter the third.
_MOUNTS, _TREES, _RESTRICTING = "mount capset", "chroot", "kill setpgid landlock_restrict_self"
_DIE_WITH_PARENT, _SET_SECCOMP = 1, 22  # of prctl
_NEW_NAMESPACES, _THREAD = 0x7E020000, 0x00010000
FORK = {"bubblewrap": 0x20021011, "landlock": 0x1011, "none": 0x1011}  # SIGCHLD, a pidfd; new mounts and PIDs
_IOCTLS = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # terminal queries, FIONREAD, FIONBIO, close-on-exec
_PRCTLS = (15, 16, 0x53564D41)  # set and get a thread's name; name a memory area


@functools.cache
def compiled_filters(level: str, *, processes: bool = False) -> dict[str, bytes]:
    """Return the BPF that the `server` enters and, at the level without namespaces, what a `program` adds."""
    library = _library()
    if level == "landlock":
        prctls = (_DIE_WITH_PARENT, _SET_SECCOMP)
        server = _allowing(library, _ALWAYS + _RESTRICTING, prctls, FORK[level])
        return {"server": server, "program": _taking_away(library, prctls, FORK[level])}
    names = _ALWAYS + _BEHIND_NAMESPACES + _MOUNTS + (f" {_PROCESSES} {_TREES}" if processes else "")
    return {"server": _allowing(library, names, (_DIE_WITH_PARENT,), FORK[level], processes=processes)}


def _library() -> Any:
    try:
        return require("pyseccomp", "programs", "running programs in a sandbox")
    except RuntimeError as error:  # the Python part is there, the C library is not
        raise ExecutionError(
            f"running programs in a sandbox needs the library libseccomp ({error}). "
            "Install your system's package libseccomp2, or run without walls: --unsafe-local."
        ) from error


def _allowing(seccomp: Any, names: str, prctls: tuple[int, ...], fork: int, *, processes: bool = False) -> bytes:
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    allow, arg = seccomp.ALLOW, seccomp.Arg
    for name in names.split():
        if _exists(seccomp, name):
            rules.add_rule(allow, name)
    mask, wanted = (_NEW_NAMESPACES, 0) if processes else (_NEW_NAMESPACES | _THREAD, _THREAD)
    rules.add_rule(allow, "clone", arg(0, seccomp.MASKED_EQ, mask, wanted))
    rules.add_rule(allow, "clone", arg(0, seccomp.EQ, fork))
    # clone3 hides its flags behind a pointer: pretend it is not there, and the C library falls back to clone.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    rules.add_rule(allow, "prlimit64", arg(0, seccomp.EQ, 0))  # oneself only
    rules.add_rule(allow, "sched_setaffinity", arg(0, seccomp.EQ, 0))
    rules.add_rule(allow, "socketpair", arg(0, seccomp.EQ, 1))  # AF_UNIX: asyncio wakes itself with one
    for number in _IOCTLS:
        rules.add_rule(allow, "ioctl", arg(1, seccomp.EQ, number))
    for number in _PRCTLS + prctls:
        rules.add_rule(allow, "prctl", arg(0, seccomp.EQ, number))
    return _exported(rules)


def _taking_away(seccomp: Any, prctls: tuple[int, ...], fork: int) -> bytes:
    """What a program at the level without namespaces must not inherit; the kernel obeys the stricter of two filters."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse, arg = seccomp.ERRNO(errno.EPERM), seccomp.Arg
    for name in _RESTRICTING.split():
        rules.add_rule(refuse, name)
    for number in prctls:
        rules.add_rule(refuse, "prctl", arg(0, seccomp.EQ, number))
    rules.add_rule(refuse, "clone", arg(0, seccomp.EQ, fork))
    return _exported(rules)


def _exported(rules: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _exists(seccomp: Any, name: str) -> bool:
    try:
        return seccomp.resolve_syscall(seccomp.system_arch(), name) >= 0
    except (OSError, ValueError):
        return False  # this machine has no such call (arm64 has no `open`)
