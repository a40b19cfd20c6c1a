# SPDX-License-Identifier: LGPL-2.1-only
"""Errors that say what happened, why, and how to fix it."""


class JetwattError(Exception):
    """An error with its cause and a remedy.

    what: what has failed
    why: the cause, empty if it is not known
    fix: what to do about it, empty if nothing can be suggested
    """

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        super().__init__(what, why, fix)
        self.what, self.why, self.fix = what, why, fix

    def __str__(self) -> str:
        lines = [self.what]
        lines += ["  why: " + self.why] if self.why else []
        lines += ["  fix: " + self.fix] if self.fix else []
        return "\n".join(lines)


class SourceError(JetwattError):
    """A source of energy cannot be read, or its counter was reset."""
