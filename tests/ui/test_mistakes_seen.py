"""The mistakes lab tells where a mistake was seen, and opens the notebook's sentence."""

from attention_core.published.stories import STORIES, stories_of
from visiting import rendered, stands, visit


def test_a_mistake_has_its_stories_and_a_way_to_the_notebook_s_sentence():
    at = stands(visit("mistakes_lab", example="sorry_dave", mistake="no_scaling"))
    at.session_state["row_deeper"] = True
    shown = rendered(stands(at.run()))
    for story in (*stories_of("no_scaling"), *stories_of("")):
        assert story.told().wrong in shown
        assert story.told().right in shown
    assert STORIES["mask_after_softmax"].title not in shown
    at = stands(at.button(key="seen_missing_scale").click().run())
    values = at.session_state["visit"].values
    assert (values.example, values.mistake) == ("sorry_dave_first_run", "no_scaling")
    assert at.query_params["example"] == "sorry_dave_first_run"
    assert not [each for each in at.button if each.key == "seen_missing_scale"]
