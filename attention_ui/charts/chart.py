"""What every chart function gives: data, a specification, and words."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

AS_WIDE = {"autosize": {"type": "fit-x", "contains": "padding"}, "padding": {"bottom": 0}}
"""As wide as the page, without the room that Streamlit leaves around a chart."""


@dataclass(frozen=True)
class Chart:
    """What `st.vega_lite_chart` needs: data, a compiled specification, and words for it."""

    frame: pd.DataFrame | pa.Table
    spec: dict
    alt: str
    is_chart = True

    @property
    def n_bytes(self) -> int:
        """About what its data takes."""
        if isinstance(self.frame, pa.Table):
            return self.frame.nbytes
        return int(self.frame.memory_usage(deep=True).sum())


def without_data(spec: dict) -> dict:
    """Drop the empty data that a template was authored with: Streamlit sends the real one apart."""
    spec.pop("datasets", None)
    spec.pop("data", None)
    for layer in spec.get("layer", []):
        if layer.get("data", {}).get("values") == []:
            del layer["data"]
    return spec
