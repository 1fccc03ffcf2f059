"""What a server's process has used: processor time and memory, as Linux tells it."""

import os
from pathlib import Path


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
