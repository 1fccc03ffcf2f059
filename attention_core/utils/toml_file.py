"""Words and tables that are data: TOML files beside the modules that read them."""

import tomllib
from importlib.resources import files
from typing import Any


def read_toml(package: str, name: str) -> dict[str, Any]:
    """What stands in a TOML file of a package, in its order."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
