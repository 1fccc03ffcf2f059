"""What a person would write instead: the matrices of simplified attention as Plotly heatmaps."""

import plotly.graph_objects as go
import streamlit as st
import torch

st.set_page_config(layout="wide")
tokens = ["The", " ", "dog", " ", "attacks", " ", "the", " ", "wild", " ", "cat"]
width = st.slider("Width of the vectors", 1, 64, 3, key="control_d_in")
table = torch.nn.Embedding(9, width, _weight=torch.randn(9, width, generator=torch.manual_seed(69)))
ids = torch.tensor([1, 0, 4, 0, 2, 0, 5, 0, 6, 0, 3])
embeddings = table(ids).detach()
scores = embeddings @ embeddings.mT
weights = scores.softmax(dim=-1)
context_vectors = weights @ embeddings


def heatmap(name: str, tensor: torch.Tensor, across: list[str]) -> go.Figure:
    """One matrix with its numbers."""
    largest = tensor.abs().max().item()
    numbers = {"z": tensor.numpy(), "text": tensor.numpy(), "texttemplate": "%{text:.2f}"}
    colours = {"colorscale": "RdBu", "zmin": -largest, "zmax": largest, "showscale": False}
    figure = go.Figure(go.Heatmap(**numbers, **colours))
    figure.update_layout(title=name, width=360, height=360, margin={"l": 60, "t": 60})
    places = list(range(len(tokens)))
    figure.update_yaxes(autorange="reversed", tickvals=places, ticktext=tokens)
    figure.update_xaxes(side="top", tickvals=list(range(len(across))), ticktext=across)
    return figure


columns = [f"d{place + 1}" for place in range(width)]
for row in (
    (("embeddings", embeddings, columns), ("scores", scores, tokens)),
    (("weights", weights, tokens), ("context_vectors", context_vectors, columns)),
):
    for place, (name, tensor, across) in zip(st.columns(2), row, strict=True):
        place.plotly_chart(heatmap(name, tensor, across), width="content", key=name)
