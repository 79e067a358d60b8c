"""One writer per store: a file lock of the operating system.

The operating system releases the lock when the process ends, also by a crash. The lock
file remains, with the name of its last holder.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from veridical._core.errors import InputError

if sys.platform == "win32":
    import msvcrt

    # Byte that is locked. Windows forbids reading locked bytes, so it lies behind the
    # text.
    _LOCKED_BYTE = 1 << 30

    def _try_lock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class WriterLock:
    """The lock that allows a process to write to a store.

    Parameters
    ----------
    store : Path
        The store; the lock is a file beside it.

    Raises
    ------
    InputError
        If another process holds it; the message names process, host and time.
    """

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(store.name + ".lock")
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(
                f"{store} cannot be written: {error.strerror} ({self.path}); choose "
                "another place with --store."
            ) from error
        try:
            _try_lock(self._handle)
        except OSError:
            holder = self._describe_holder()
            os.close(self._handle)
            raise InputError(
                f"{store} is being written by {holder}; wait for it or stop it, or use "
                "another --store. Reading (show, export, verify) works meanwhile."
            ) from None
        self._sign()

    def _sign(self) -> None:
        """Write process, host and time into the lock file, for messages only."""
        text = json.dumps(
            {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "since": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )
        try:
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, text.encode())
        except OSError:  # on a full disk the lock still works
            pass

    def _describe_holder(self) -> str:
        try:
            os.lseek(self._handle, 0, os.SEEK_SET)
            holder = json.loads(os.read(self._handle, 4096))
            return (
                f"process {int(holder['pid'])} on {holder['host']} since "
                f"{holder['since']}"
            )
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        """Release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
