"""What runs alone shows what the whole page would: seen at the protocol, without a browser."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from sampling import marked
from serving import HANG
from visiting import LESSONS
from visitor import LINK, Visitor, _about

LEADS_ELSEWHERE = "page_link"
"""Says what was chosen when the page was drawn: of another page's link, what is held counts."""
SET_ANEW = ("value", "raw_value", "raw_values", "set_value")
"""Where a widget stands is sent only where the server has moved it."""

OFTEN = 20
"""Times that a server at rest has answered and said nothing else."""

MOVED_ALONE = {
    "causal_mask": {"chart_leak"},
    "divide_by_sqrt_d": {"Trials"},
    "flash_attention": {"Tokens", "Fast memory, in KiB"},
    "how_a_matrix_learns": {"chart_softmax", "chart_update"},
}
"""Some that must not run the whole page: a value that is read elsewhere by mistake does."""


class Watching(Visitor):
    """A visitor who sees all that is sent, by its place on the page."""

    def __init__(self, url: str, page: str, link: str = LINK) -> None:
        super().__init__(url, page, link)
        self.shown: dict[tuple[int, ...], bytes] = {}
        self.widgets: dict[str, tuple[str, str]] = {}
        self.runs: list[list[str]] = []
        self.was_whole = False
        self.states: dict[str, WidgetState] | None = None

    async def _run(self, message: BackMsg) -> float:
        self.was_whole = False
        if self.states is not None:  # says where all stands, and does not wait for the answer
            told = message.rerun_script.widget_states.widgets
            self.states |= {each.id: each for each in told}
            del told[:]
            told.extend(self.states.values())
            message.rerun_script.page_name = self.page
            message.rerun_script.page_script_hash = self.script
            message.rerun_script.query_string = self.link
            await self.socket.send(message.SerializeToString())
            return 0.0
        return await super()._run(message)

    async def hear_all(self) -> None:
        """Until no run is on and, asked again and again, the server says nothing but its answer:
        what waits is taken up by the next run, which says at once that it begins.
        """
        asks = BackMsg()
        asks.file_urls_request.request_id = "of no file"
        is_running, n_alone = False, 0
        while is_running or n_alone < OFTEN:
            await self.socket.send(asks.SerializeToString())
            kind, n_alone = "", n_alone + 1
            while kind != "file_urls_response":
                answer = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), HANG))
                kind = answer.WhichOneof("type")
                if kind != "file_urls_response":
                    n_alone = 0
                if kind == "new_session":
                    self.runs.append([*answer.metadata.run.fragment_ids])
                if kind in ("new_session", "script_finished"):
                    is_running = kind == "new_session"
                if kind == "page_info_changed":
                    self.link = answer.page_info_changed.query_string
                if answer.delta.WhichOneof("type") == "new_element":
                    self._look(answer)
            await asyncio.sleep(0.02)

    async def again(self) -> float:
        self.shown = {}
        return await super().again()

    async def slide(self, label: str) -> None:
        self.turn = sorted(self.sliders).index(label)
        await self.move()

    def _look(self, answer: ForwardMsg) -> None:
        super()._look(answer)
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        self.was_whole |= not answer.delta.fragment_id
        if kind == LEADS_ELSEWHERE:
            return
        element.ClearField("has_one_shot_effect")
        inner = getattr(element, kind)
        if name := getattr(inner, "id", ""):
            self.widgets[name.rpartition("-")[2]] = name, answer.delta.fragment_id
        for field in {*SET_ANEW} & {*inner.DESCRIPTOR.fields_by_name}:
            inner.ClearField(field)
        self.shown[tuple(answer.metadata.delta_path)] = element.SerializeToString()


def on_page(url: str, page: str, acts: Callable[[Watching], Awaitable], link: str = LINK) -> None:
    """What a visitor does on a page that it has opened, who meets no error there."""

    async def visits() -> None:
        visitor = await Watching(url, page, link).enter()
        await acts(visitor)
        assert not visitor.errors
        await visitor.leave()

    asyncio.run(visits())


def waiting(visitor: Watching) -> list[str]:
    return json.loads(visitor.others["near"][2])["waiting"]


WALKED = ("cross_attention", "diagnosis", "divide_by_sqrt_d")
"""In `make check`: positions made all at once, controls of the page and of a card, a long run."""


@pytest.mark.parametrize(
    "page", marked(LESSONS, WALKED, pytest.mark.slow("8 s a page: each control, moved in turn"))
)
def test_what_runs_alone_or_waits_shows_what_all_would(page, app_url):
    async def moves(visitor):
        alone = []

        async def same(what: str) -> None:
            if not visitor.was_whole:
                alone.append(what)
            part = dict(visitor.shown)
            await visitor.again()
            # A picture has moved in the browser, and keeps where it started.
            itself = visitor.charts[what].place if what in visitor.charts else None
            changed = [at for at, n in visitor.shown.items() if part.get(at) != n and at != itself]
            assert not changed, (what, changed)

        for label in [label for label, each in visitor.sliders.items() if each.fragment]:
            for _ in range(2):  # the first, and a way back, change a button in the sidebar
                await visitor.slide(label)
                await same(label)
        for name in list(visitor.charts):
            for is_last in (False, True):
                carried = visitor.charts[name]
                value = carried.most if is_last else carried.least + carried.width
                await visitor.set(carried, value)
                await same(name)
        for label in [label for label, each in visitor.choices.items() if each.fragment]:
            if label in visitor.choices:  # one that was there before may have taken it away
                await visitor.set(visitor.choices[label])
                await same(label)
        if page in MOVED_ALONE:
            assert {*alone} >= MOVED_ALONE[page], alone
        await visitor.tell("near", near="nothing")
        parts, has_waited = json.loads(visitor.others["near"][2])["parts"], False
        for label in sorted(visitor.sliders):
            await visitor.slide(label)
            left = waiting(visitor)
            assert {*left} <= {*parts}
            has_waited |= bool(left)
            while left:
                await visitor.tell("near", rest=len(left))
                assert len(waiting(visitor)) < len(left), "what waits is drawn one after the other"
                left = waiting(visitor)
            await same(label)
        assert has_waited or not visitor.sliders

    on_page(app_url, page, moves)


@pytest.mark.parametrize(
    "page", marked(LESSONS, WALKED, pytest.mark.slow("1.5 s a page: what others tell late"))
)
def test_what_is_told_of_a_page_just_left_does_no_harm(page, app_url):
    """A browser may say late how things stood there: Streamlit still calls what heard of it."""

    async def late(visitor):
        home, visitor.page, visitor.script = visitor.script, page, ""
        await visitor.again()
        message, events = BackMsg(), ("hand", "near", "rest")
        states = message.rerun_script.widget_states.widgets
        for each in (*visitor.sliders.values(), *visitor.charts.values()):
            each.move()
            each.put(states.add(id=each.id))
        for name, _, is_component in visitor.others.values():
            if is_component:
                told = json.dumps([{"event": each, "value": "closing"} for each in events])
                name = f"$$STREAMLIT_INTERNAL_KEY_{name}__events"
                states.add(id=name, json_trigger_value=told)
            else:
                states.add(id=name, trigger_value=True)
        visitor.page, visitor.script = "", home
        await visitor.again()
        message.rerun_script.fragment_id = "of the page that was left"
        await visitor._run(message)

    on_page(app_url, "", late)


def test_what_was_moved_before_another_view_came_stands_where_the_address_says(app_url):
    async def late(visitor):
        await visitor.tell("near", hand="moves_scores")
        before = visitor.charts["chart_scores"]
        visitor.link += "&factor=2"
        await visitor.again()  # as by Back
        assert visitor.charts["chart_scores"].id != before.id
        await visitor.set(before, 1.5)
        assert "factor=1.5" in visitor.link
        now = visitor.charts["chart_scores"]
        assert now.least + now.at * now.width == 1.5

    on_page(app_url, "simplified_attention", late)


def test_what_was_moved_before_its_choices_changed_is_kept_until_it_fits(app_url):
    async def late(visitor):
        before = visitor.sliders["Queries in a tile"]
        before.at = before.last
        visitor.link += "&drop_blanks=on"
        await visitor.again()  # as by Back
        await visitor.set(before)
        assert "tile_queries" not in visitor.link
        assert not any(b"Not applied" in each for each in visitor.shown.values())

    on_page(app_url, "flash_attention", late, "predict=off&example=wild_cat")


@pytest.mark.parametrize(
    ("page", "card", "moved", "least"),
    [
        ("simplified_attention", "scores", {"step": 1.5}, 0.5),
        ("real_model", "write", {"next_temperature": 3, "next_top_k": 2}, 1),
    ],
)
def test_of_an_older_view_counts_what_was_moved_in_it(app_url, page, card, moved, least):
    async def late(visitor):
        async def reports(view, **selection):
            message, state = _about(view, part)
            told = {name: [{"value": value}] for name, value in selection.items()}
            cell = [{"m": -1, "l": 0, "i": 0, "j": 0}]  # a click that meets none
            state.string_value = json.dumps({"selection": {**told, "cell": cell}})
            await visitor._run(message)

        (view, part), *_ = (of for name, of in visitor.widgets.items() if f"chart_{card}_" in name)
        before = visitor.link
        await reports(view, **moved)
        assert visitor.link.count("&") == before.count("&") + len(moved)
        visitor.link = before
        await visitor.again()  # as by Back
        await reports(view, **moved, again=1)
        assert visitor.link == before, "only the cell was clicked on"
        await reports(view, **moved | {next(iter(moved)): least})
        assert visitor.link.count("&") == before.count("&") + 1, "the first one was moved"

    on_page(app_url, page, late)


def test_a_picture_without_its_positions_is_drawn_where_its_control_comes_to_rest(app_url):
    """They come with a hand, of which the server may hear too late, or which it has forgotten."""

    async def quick(visitor):
        await visitor.tell("near", hand="moves_none")
        visitor.link += "&seed=4711"
        await visitor.again()
        for name, other in [(name, each.least) for name, each in visitor.charts.items()]:
            before = dict(visitor.shown)
            await visitor.set(chart := visitor.charts[name], other)
            assert visitor.charts[name].id == chart.id, "it stands where the hand has let go of it"
            assert visitor.shown[chart.place] != before[chart.place], name

    for page in "simplified_attention", "cross_attention":
        on_page(app_url, page, quick)


def test_of_messages_that_wait_together_none_is_lost(app_url):
    """A view has gone when the later one is sent; the watcher tells of two things."""

    async def both(visitor):
        await visitor.tell("near", hand="moves_scores")
        chart, visitor.states = visitor.charts["chart_scores"], {}
        await visitor.again()  # so that what follows waits
        await visitor.set(chart, 1.5)
        del visitor.states[chart.id]
        await visitor.tell("near", hand="moves_weights,moves_scores")
        await visitor.tell("near", near="card_scores")
        await visitor.hear_all()
        assert "factor=1.5" in visitor.link
        assert "moves_weights" in json.loads(visitor.others["near"][2])["hands"]

    on_page(app_url, "simplified_attention", both)


UNHEARD = {
    "causal_mask": ("guess_", {"double_array_value": {"data": [0.9]}}),
    "divide_by_sqrt_d": ("share", {"trigger_value": True}),
    "cross_attention": ("share_embed", {"bool_value": True}),
    "queries_keys_values": ("save_", {"trigger_value": True}),
}
"""Widgets that no callback hears of, in a part, a dialog and the page, and what is pressed."""


@pytest.mark.parametrize("page", UNHEARD)
def test_what_is_pressed_is_drawn_also_where_it_waits_with_what_the_browser_tells(app_url, page):
    """Messages that wait are taken up in one run, of which a callback may choose the parts."""
    wanted, said = UNHEARD[page]

    async def together(visitor):
        if wanted.startswith("share_"):
            await visitor.press("share")
        await visitor.tell("near", hand="moves_leak")
        name, part = next(at for key, at in visitor.widgets.items() if key.startswith(wanted))
        visitor.states = {}
        await visitor.again()  # so that what follows waits
        message = BackMsg()
        message.rerun_script.fragment_id = part
        message.rerun_script.widget_states.widgets.add(id=name, **said)
        await visitor._run(message)
        await visitor.tell("near", hand="moves_scores")
        await visitor.hear_all()
        assert part in (visitor.runs[-1] or ["", part])

    on_page(app_url, page, together, "row_from=hand")


PRESSED = ("causal_mask", "diagnosis", "heads_learning")
"""Every day: a control in a part, one in the page, and one with uneven places."""


@pytest.mark.slow("3 s a page: presses that cut runs short")
@pytest.mark.parametrize("page", marked(LESSONS, PRESSED))
def test_quick_presses_end_where_the_address_says(page, app_url):
    """Each falls into the run of the one before; a picture alone would wait for its end."""

    async def presses(visitor):
        chance, visitor.states, place = random.Random(page), {}, 0
        for at in range(30):
            if visitor.sliders:
                await visitor.slide(chance.choice([*visitor.sliders]))
            place = chance.randrange(2)  # one for all: two pictures may carry one control
            for each in [*visitor.charts.values()] if at % 3 == 2 else ():
                await visitor.set(each, each.least + place * each.width)
            await asyncio.sleep(chance.random() / 10)
        await visitor.hear_all()
        told = {name: each.id for name, each in visitor.charts.items()}
        for _ in range(3):  # there and back, sooner than the browser hears of it
            place = 1 - place
            for each in [*visitor.charts.values()]:
                await visitor.set(each, each.least + place * each.width)
        await visitor.hear_all()
        visitor.states = None
        shown, cold = dict(visitor.shown), Watching(app_url, page)
        cold.link = visitor.link
        await cold.enter()
        for name, chart in told.items():
            if name in cold.charts and visitor.charts[name].id == chart:
                assert cold.charts[name].at == place, (name, visitor.link)
        await visitor.again()
        pictures = {each.place for each in visitor.charts.values()}  # keep where they started
        assert {at for at, one in visitor.shown.items() if shown.get(at) != one} <= pictures
        await cold.leave()

    on_page(app_url, page, presses)
