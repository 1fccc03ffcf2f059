"""Weights at a temperature: `marimo run examples/marimo_app.py`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    from attention_core import EXAMPLES, attend, embed
    from attention_explorer import show

    embedded = embed(EXAMPLES["wild_cat"].inputs)
    scores = attend(embedded)["scores"].value
    tokens = embedded.labels("token")
    return mo, scores, show, tokens


@app.cell
def _(mo):
    temperature = mo.ui.slider(0.1, 4.0, 0.1, value=1.0, label="Temperature")
    temperature
    return (temperature,)


@app.cell
def _(scores, show, temperature, tokens):
    show((scores / temperature.value).softmax(dim=-1), tokens)
    return


if __name__ == "__main__":
    app.run()
