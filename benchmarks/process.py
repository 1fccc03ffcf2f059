"""A server's process, and what it has used: processor time and memory, as Linux tells it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving import ROOT, AppServer, start_server

# Every server is measured with the model that everybody has, whatever is installed here.
os.environ["ATTENTION_EXPLORER_MODEL"] = "tiny"


@contextmanager
def server(folder: Path = ROOT) -> Iterator[AppServer]:
    """The app, or what lies in another folder, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as logs:
        started = start_server(Path(logs) / "output.txt", folder)
        try:
            yield started
        finally:
            started.stop()


def cpu_seconds(pid: int) -> float:
    """Processor time since the process began; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Memory of the process that is in RAM, in MiB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024
