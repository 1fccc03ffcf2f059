"""How many connections the server may hold open."""

from contextlib import suppress

MOST = 65_536
"""Open files that are asked for where the hard limit is larger or endless."""


def raise_open_files() -> None:
    """Raise the soft limit of open files to the hard one, or `MOST`: a session takes four."""
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
