"""The layer as one chart."""

import streamlit as st

from ...charts.layer import layer
from ...page.view import View


def show_layer(view: View) -> None:
    """All matrices of the layer."""
    chart = layer(view.trace, view.settings.query)
    st.vega_lite_chart(chart.frame, chart.spec, width="content", alt=chart.alt)
