"""What the compiled specifications of small charts share."""

LABEL_ROOM = 92
"""Pixels that the names of rows take at most."""


def without_data(spec: dict) -> dict:
    """Drop the empty data that a template was authored with: Streamlit sends the real one apart."""
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec.get("layer", []):
        if layer.get("data", {}).get("values") == []:
            del layer["data"]
    return spec
