"""What every chart function gives: data, a specification, and words."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa


@dataclass(frozen=True)
class Chart:
    """What `st.vega_lite_chart` needs: data, a compiled specification, and words for it."""

    frame: pd.DataFrame | pa.Table
    spec: dict
    alt: str
