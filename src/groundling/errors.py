"""The errors a user can meet. Each says what is wrong, where, and what to do next."""


class GroundlingError(Exception):
    """Base of every error that is the input's fault: the command prints it as one line and exits 2."""

    def at(self, where: str) -> "GroundlingError":
        """Return the same error with a place (`file:line`, a sentence id) put before it.

        >>> str(FormatError("no closing bracket").at("a.trees:3"))
        'a.trees:3: no closing bracket'
        """
        return type(self)(f"{where}: {self}")


class FormatError(GroundlingError):
    """A file or text does not follow its format."""


class ConfigError(GroundlingError):
    """A setting has an unknown name, a wrong type or a value out of range."""


class DataError(GroundlingError):
    """Inputs that are well formed but do not fit together, or a corpus that is not there."""


class ExecutionError(GroundlingError):
    """Programs cannot be run here as asked (no sandbox, no interpreter)."""


class MissingExtraError(GroundlingError):
    """An optional dependency is not installed."""
