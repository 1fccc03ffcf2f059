"""What is near runs, and the rest waits: seen at the protocol, without a browser."""

import json
from itertools import product

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from sampling import each_once
from test_parts import on_page, waiting


def test_what_comes_near_runs_and_what_is_far_waits(app_url):
    async def moves(visitor):
        await visitor.tell("near", near="card_looking,card_roles")
        await visitor.slide("Width of the vectors, d_in")
        left = waiting(visitor)
        assert "card_looking" not in left
        assert {"card_scores", "card_context"} <= {*left}
        await visitor.tell("near", near="card_scores")
        assert {*left} - {*waiting(visitor)} == {"card_scores"}
        await visitor.tell("near", rest="card_context")
        assert {*left} - {*waiting(visitor)} == {"card_scores", "card_context"}, "what is met soon"
        await visitor._run(BackMsg())
        assert not waiting(visitor), "the page drawn whole has drawn what waited"

    on_page(app_url, "cross_attention", moves)


def test_a_move_draws_what_it_changes_and_tells_the_browser_what_is_new(app_url):
    """Not what stands beside the sentence, which fifty people would pay for at each move."""

    async def moves(visitor):
        await visitor.tell("near", near="card_picture,card_one_query")
        for _ in range(2):  # the first brings the way back, and all that waits
            await visitor.slide("Width of the vectors, d_in")
        heard, look = [], visitor._look
        visitor._look = lambda answer: heard.append(answer) or look(answer)
        await visitor.slide("Width of the vectors, d_in")
        drawn = {each.delta.new_element.WhichOneof("type") for each in heard}
        assert {each.metadata.delta_path[0] for each in heard} == {0}, "what is in the sidebar"
        assert "vega_lite_chart" in drawn
        assert "bidi_component" not in drawn, "the same waits as before"

    on_page(app_url, "simplified_attention", moves)


def test_a_move_that_reaches_one_part_begins_one_run(app_url):
    """Parts are named by a run that begins anew: what runs anyway is not named."""

    async def moves(visitor):
        await visitor.tell("near", near="card_dropout")
        await visitor.slide("Seed of the draw")
        begun, hear = [], visitor.socket.recv

        async def heard():
            data = await hear()
            begun.append(ForwardMsg.FromString(data).WhichOneof("type") == "new_session")
            return data

        visitor.socket.recv = heard
        before = waiting(visitor)
        await visitor.slide("Seed of the draw")
        assert sum(begun) == 1
        await visitor.tell("near", near="card_dropout,card_layer")
        assert sum(begun) == 2
        assert waiting(visitor) == before

    on_page(app_url, "whole_layer", moves)


def test_what_a_hand_asks_for_is_made_anew_only_when_it_comes_back(app_url):
    async def moves(visitor):
        near = json.loads(visitor.others["near"][2])["parts"]
        await visitor.tell("near", near=",".join(near))
        await visitor.tell("near", hand="moves_scores,picture_weights")

        def told(of="hands"):
            return json.loads(visitor.others["near"][2])[of]

        await visitor.set(visitor.charts["chart_scores"])
        assert told() == ["moves_scores"], "the weights were drawn anew, the scores are in the hand"
        await visitor.slide("Width of the vectors, d_in")
        assert not told()

    on_page(app_url, "simplified_attention", moves)


@pytest.mark.parametrize(
    ("quickly", "presses"), each_once(product([False, True], repeat=2), "1 s: the other two")
)
def test_back_counts_before_what_was_said_without_its_answer(app_url, quickly, presses):
    """While Back is on its way, a scroll or a press says again where all stood before."""
    width = "Width of the vectors, d_in"

    async def moves(visitor):
        before, place, visitor.states = visitor.link, visitor.sliders[width].at, {}
        await visitor.slide(width)
        await visitor.hear_all()
        assert visitor.link == before + "&d_in=4"
        said, visitor.states = visitor.states, {}
        if quickly:
            await visitor.again()  # so that what follows waits
        visitor.link = before
        await visitor.again()
        visitor.states = said
        if not quickly:
            await visitor.hear_all()
        await visitor.tell("near", near="card_scores")
        if presses:
            await visitor.set(visitor.charts["chart_scores"])
        await visitor.hear_all()
        assert visitor.sliders[width].at == place
        assert visitor.link == before + "&factor=1.25" * presses

    on_page(app_url, "simplified_attention", moves, "example=wild_cat&predict=off")
