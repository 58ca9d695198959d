"""Try what a sandbox must deny, and say `proven` when all of it was denied; runs inside of the sandbox.

`prove.py PORT TREE SECRET...`: PORT listens on the host's loopback and TREE may be written; no SECRET may be read or
written. The first is a decoy, and nothing may be changed beside it either.
"""

import contextlib
import os
import socket
import sys
from pathlib import Path

FEW = 6


def refuse(what: str) -> None:
    """Say what the sandbox let through."""
    sys.exit(f"not denied: {what}")


def prove_network(port: int) -> None:
    """Reach a server of its own, and none of the host's."""
    with socket.create_server(("127.0.0.1", 0)) as own:
        socket.create_connection(own.getsockname(), timeout=20).close()
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except OSError:
        return
    refuse("the host's loopback")


def prove_secret(secret: str) -> None:
    """Open it neither to read nor to write; a file of the user's own is never put at risk by more than that."""
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(secret, flags))
        except OSError:
            continue
        refuse(f"opening {secret}")


def prove_outside(decoy: Path) -> None:
    """Neither cut the decoy nor make a file beside it."""
    with contextlib.suppress(OSError):
        os.truncate(decoy, 0)
        refuse(f"cutting {decoy}")
    with contextlib.suppress(OSError):
        (decoy.parent / "made").touch()
        refuse(f"a new file in {decoy.parent}")


def main() -> None:
    """Try all of it."""
    port, tree, secrets = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if len(list(Path("/proc").glob("[0-9]*"))) > FEW:
        refuse("sight of other processes")
    prove_network(port)
    for secret in secrets:
        prove_secret(secret)
    if secrets:
        prove_outside(Path(secrets[0]))
        if os.getuid() == 0:
            refuse("being root")
    Path(tree, "written").write_text("x", encoding="ascii")
    print("proven")


if __name__ == "__main__":
    main()
