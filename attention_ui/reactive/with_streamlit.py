"""What Streamlit has to do differently for pages that are drawn in fragments and whose state is in
their address. What each change is for stands in `attention_ui/streamlit_workarounds`.
"""

from functools import cache

from ..streamlit_workarounds import withheld
from ..streamlit_workarounds.abandoned_pages import run_only_parts_that_are_there
from ..streamlit_workarounds.kept_messages import keep_what_was_drawn
from ..streamlit_workarounds.stale_messages import take_nothing_back
from ..streamlit_workarounds.uninterrupted_callbacks import let_callbacks_end
from . import isolation, settings


@cache
def mend_streamlit() -> None:
    """Make fragments, callbacks and the address behave as the engine expects, once a process."""
    keep_what_was_drawn()
    isolation.withhold_also(withheld.withhold, withheld.give_back)
    run_only_parts_that_are_there()
    let_callbacks_end()
    take_nothing_back(settings.is_late, settings.begins)
