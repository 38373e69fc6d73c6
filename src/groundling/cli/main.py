"""The command `groundling`: a table of subcommands, each imported only when it is called."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

import typer

from groundling import __version__
from groundling.errors import GroundlingError
from groundling.names import load

# name -> (where it lives, one line of help)
COMMANDS: dict[str, tuple[str, str]] = {
    "score": ("groundling.cli.score:app", "Score trees, dependencies, alignments, segments, programs."),
    "vgnsl": ("groundling.cli.vgnsl:app", "Learn phrase structure from captions and images."),
    "avnsl": ("groundling.cli.avnsl:app", "Cut speech into words and parse it, learned from speech and images."),
    "g2l2": ("groundling.cli.g2l2:app", "Learn what words mean and how they combine, from what sentences do."),
    "demo": ("groundling.cli.demo:demo_command", "See all of it work: built-in data, one report."),
    "check": ("groundling.cli.check:check_command", "Name every fault of a file."),
    "convert": ("groundling.cli.convert:convert_command", "Convert between formats that hold the same structure."),
    "data": ("groundling.cli.data:app", "Corpora: which are here, where the others come from."),
    "reproduce": ("groundling.cli.reproduce:reproduce_command", "The thesis' tables and figures beside ours."),
    "web": ("groundling.cli.web:web_command", "A page in the browser: try each system by hand."),
    "mbrexec": ("groundling.cli.mbrexec:app", "Choose among generated programs by running them in a sandbox."),
    "subdp": ("groundling.cli.subdp:app", "Dependency parsers, carried over to languages without a treebank."),
    "mlpalign": ("groundling.cli.mlpalign:app", "Align words, train aligners, mine bitext, build lexicons."),
}

# Trouble of the disk, not of the program: told in one line.
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR}
_EPILOG = "Every command has examples: try `groundling COMMAND --help`. Answers go to stdout, progress to stderr."


def build(wanted: str | None) -> typer.Typer:
    """Assemble the command line; only the subcommand `wanted` is imported, the others are one-line stand-ins.

    `wanted=None` imports them all (shell completion, documentation).
    """
    app = typer.Typer(
        name="groundling",
        help="Learn language structures through grounding.",
        epilog=_EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: importing rich would double the start-up time
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_version_option)
    for name, (target, help_text) in COMMANDS.items():
        _add(app, name, load(target) if wanted in (None, name) else _stand_in, help_text)
    return app


def _add(app: typer.Typer, name: str, command: typer.Typer | Callable[..., None], help_text: str) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, help=help_text, no_args_is_help=True)
    elif command is _stand_in:
        app.command(name, help=help_text)(command)
    else:
        app.command(name)(command)


def _stand_in() -> None:
    raise AssertionError("a stand-in is only listed, never called")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"groundling {__version__}")
        raise typer.Exit


def _version_option(
    version: bool = typer.Option(
        False, "--version", help="Print the version and leave.", is_eager=True, callback=_print_version
    ),
) -> None:
    pass


def _told(error: BaseException | None) -> bool:
    """Whether the interrupt that led here came with a message, which was then printed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None and bool(error.args)


def main() -> None:
    """Run the command line: 0 fine, 1 the check failed, 2 bad input or usage, 130 interrupted."""
    completing = "_GROUNDLING_COMPLETE" in os.environ
    names = [word for word in sys.argv[1:] if word in COMMANDS]
    try:
        build(None if completing else (names or [""])[0])()
    except GroundlingError as error:
        print(f"groundling: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # before typer has taken over
        print("groundling: interrupted", file=sys.stderr)
        sys.exit(130)
    except SystemExit as leaving:  # typer has made 130 of a Ctrl-C; a training has then said where it stopped
        if leaving.code == 130 and not _told(leaving):
            print("groundling: interrupted", file=sys.stderr)
        raise
    except BrokenPipeError:  # `groundling ... | head`: the reader has left, and that is fine
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in _DISK:
            raise
        print(
            f"groundling: {error.filename or 'the output'}: {error.strerror}. What was written before is untouched; "
            "make room or choose another place, then give the same command again.",
            file=sys.stderr,
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
