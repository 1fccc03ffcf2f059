"""How a visitor comes to a real model, where there is none yet: a button, or what to do instead."""

import streamlit as st

from ...frame.lights import note
from ...frame.models import OWN, SMOL, choices, install, is_alone, say_why, why_refused
from ...reactive import settings
from ...reactive.long_run import Work, go_on, put_run, run_so_far


def way_to_a_model() -> None:
    """Where the only model is our own: how to get a real one."""
    there = choices()
    for name, called in there.items():
        if why := why_refused(name):
            say_why(name, f"{called} cannot be opened: {why}.", f"refused_{name}")
    if SMOL in there or OWN in there or settings.values().paper:
        return
    if not is_alone():
        note(
            "This is our own small network. On your computer, this page opens SmolLM2 by a button, "
            "or any GGUF file or Hugging Face folder."
        )
        return
    st.markdown(
        "This is a small network trained here. A real one is a download away, or start the app "
        "with one of yours: `attention-explorer --model PATH` (or `make run MODEL=PATH`) takes a "
        "GGUF file or a Hugging Face folder."
    )
    run = Work("get_model", SMOL, install, "98 MB of SmolLM2 (Apache-2.0)", "Get SmolLM2").run()
    put_run(run)
    if run.share >= 1 and run.result:
        st.markdown(":red[:material/error:] :red[It could not be installed:]")
        st.text(str(run.result))
    elif run.share >= 1:
        settings.forget("model", "prompt")
        st.rerun()


def get_on() -> None:
    """At the end of the card: go on with what was begun."""
    if run := run_so_far("get_model"):
        go_on(run)
