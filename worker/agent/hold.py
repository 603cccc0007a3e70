"""A folder of the spool in a runner's hands: its lock, for as long as the runner lives, and the pipes between runner and agent."""

import fcntl
import os
from typing import Optional


class Hold:
    def __init__(self) -> None:
        self.lock: Optional[int] = None
        self.alive = self.control = -1

    def take(self, folder: str) -> bool:
        """False: another runner has it. Raises OSError where there is no such folder."""
        handles = [os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)]
        try:
            fcntl.flock(handles[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in ("alive", "control"):  # all or nothing: the folder may get its new name meanwhile
                handles.append(os.open(os.path.join(folder, name), os.O_RDWR | os.O_NONBLOCK))
        except BlockingIOError:
            os.close(handles[0])
            return False
        except OSError:
            for handle in handles:
                os.close(handle)
            raise
        self.lock, self.alive, self.control = handles
        return True

    def is_of(self, folder: str) -> bool:
        """Whether what is held is this folder, whatever it was called before; if not, it is let go."""
        if self.lock is None:
            return False
        if os.path.samestat(os.fstat(self.lock), os.stat(os.path.join(folder, "lock"))):
            return True
        for handle in (self.lock, self.alive, self.control):
            os.close(handle)
        self.lock = None
        return False
