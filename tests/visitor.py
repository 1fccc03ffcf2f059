"""A visitor without a browser: speaks Streamlit's own protocol, so that 50 fit on one machine."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.Checkbox_pb2 import Checkbox
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState

from serving import HANG, stream

LINK = urlencode({"predict": "off"})
PART = re.compile(r"(?:card|row)_\w+|closing|ends")
"""What a page is drawn in, by the keys of their containers."""


@dataclass
class Found:
    """A control that the server has sent, where it stands, and the fragment it belongs to."""

    proto: Any
    fragment: str
    place: tuple[int, ...] = ()
    at: int = 0
    step: int = 1

    @property
    def id(self) -> str:
        return self.proto.id

    @property
    def name(self) -> str:
        return self.id.rpartition("-")[2]

    def move(self) -> None:
        """One step on, turning round at the ends."""
        if not 0 <= self.at + self.step <= self.last:
            self.step = -self.step
        self.at += self.step

    @property
    def last(self) -> int:
        one = self.proto
        if isinstance(one, Slider):
            return round((one.max - one.min) / one.step) if one.step else 0
        return 1 if isinstance(one, Checkbox) else len(one.options) - 1

    def put(self, state: WidgetState) -> None:
        """Say where it stands, as its browser does."""
        match self.proto:
            case Checkbox():
                state.bool_value = bool(self.at)
            case Selectbox(options=options):
                state.string_value = options[self.at]
            case ButtonGroup(options=options):
                state.string_array_value.data.append(options[self.at].content)
            case Slider(type=Slider.SELECT_SLIDER, options=options):
                state.string_array_value.data.append(options[self.at])
            case Slider(min=least, max=most, step=step):
                state.double_array_value.data.append(min(least + self.at * step, most))


@dataclass
class Carried:
    """The control that a picture carries, its bounds, and where the picture is on the page."""

    id: str
    fragment: str
    place: tuple[int, ...]
    least: float
    most: float
    width: float
    at: int = 0
    step: int = 1

    last = property(lambda self: round((self.most - self.least) / self.width))
    move = Found.move

    def put(self, state: WidgetState, value: float | None = None) -> None:
        """Say where it stands, or at a value, as its browser does when a hand lets go of it."""
        value = round(self.least + self.at * self.width, 6) if value is None else value
        state.string_value = json.dumps({"selection": {"cell": [], "step": [{"value": value}]}})


@dataclass
class Visitor:
    """One session on one page."""

    url: str
    page: str
    link: str = LINK
    """The settings, as the address has them, which the server may change."""
    agent: str = "visitor"
    """What it says it is: to a browser, pictures come without what only a hand at them needs."""
    cookie: str = ""
    """The cookies that it has, as a browser sends them."""
    sliders: dict[str, Found] = field(default_factory=dict)
    """By their labels."""
    choices: dict[str, Found] = field(default_factory=dict)
    """Switches, and what one is chosen of, by their labels."""
    charts: dict[str, Carried] = field(default_factory=dict)
    """The pictures that carry a control, by their keys, without how often each was built."""
    others: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Buttons and components by key: their name, their fragment, what they were told (JSON)."""
    parts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The cards of the page and what else is drawn alone, from the top, and where they stand."""
    rooms: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Where controls stand that pictures of these names carry, or will when a hand comes near."""
    codes: list[str] = field(default_factory=list)
    """What the server has sent as code, such as links to copy."""
    said: str = ""
    """The last words that tell a number in bold, as those of a class's wall do."""
    groups: dict[str, Found] = field(default_factory=dict)
    """Buttons of which one is chosen, by their keys: several may have one label."""
    errors: list[str] = field(default_factory=list)
    script: str = ""
    """The page, as the server calls it."""
    turn: int = 0
    _seen: set[str] = field(default_factory=set)

    async def enter(self) -> "Visitor":
        more = {"additional_headers": {"Cookie": self.cookie}} if self.cookie else {}
        self.socket = await stream(self.url, user_agent_header=self.agent, **more)
        await self._run(BackMsg())
        return self

    async def leave(self) -> None:
        await self.socket.close()

    async def move(self) -> float:
        """Move the next slider by a step, or ask for a page without any again. Seconds it took."""
        names = sorted(self.sliders)
        if not names:
            return await self.again()
        self.turn += 1
        return await self.set(self.sliders[names[(self.turn - 1) % len(names)]])

    async def again(self) -> float:
        return await self._run(BackMsg())

    async def set(self, control: Found | Carried, value: float | None = None) -> float:
        """Move one of the page's controls by a step; one in a picture also to a value."""
        if value is None:
            control.move()
        message, state = _about(control.id, control.fragment)
        control.put(state, *([] if value is None else [value]))
        return await self._run(message)

    async def press(self, key: str) -> float:
        message, state = _about(*self.others[key][:2])
        state.trigger_value = True
        return await self._run(message)

    async def pick(self, key: str, *contents: str) -> float:
        """Choose one of the buttons of this key by what is written on it, be it there or not."""
        message, state = _about(self.groups[key].id, self.groups[key].fragment)
        state.string_array_value.data.extend(contents)
        return await self._run(message)

    async def tell(self, key: str, **events: object) -> float:
        """What a component of this key tells the server: values by the names of their triggers."""
        name, fragment, _ = self.others[key]
        message, state = _about(f"$$STREAMLIT_INTERNAL_KEY_{name}__events", fragment)
        told = [{"event": event, "value": value} for event, value in events.items()]
        state.json_trigger_value = json.dumps(told)
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        message.rerun_script.query_string = self.link
        message.rerun_script.page_name = self.page
        message.rerun_script.page_script_hash = self.script
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), HANG))
            kind = answer.WhichOneof("type")
            if kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._look(answer)
            elif kind == "delta" and answer.delta.WhichOneof("type") == "add_block":
                name = answer.delta.add_block.id.rpartition("-")[2]
                if PART.fullmatch(name):
                    self._seen.add(name)
                    self.parts[name] = tuple(answer.metadata.delta_path)
                elif name.startswith("moves_"):
                    self._seen.add(name)
                    self.rooms[name[6:]] = tuple(answer.metadata.delta_path)
            elif kind == "page_info_changed":
                self.link = answer.page_info_changed.query_string
            elif kind == "new_session":
                self._seen.clear()
            elif kind == "navigation":
                self.script = answer.navigation.page_script_hash
            elif kind == "script_finished":
                if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self.errors.append("the script does not compile")
                if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    self._forget()  # else it would wait for the answer of a control that is gone
                if answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return time.perf_counter() - began

    def _look(self, answer: ForwardMsg) -> None:
        element, fragment = answer.delta.new_element, answer.delta.fragment_id
        kind = element.WhichOneof("type")
        self._seen.add(name := getattr(getattr(element, kind), "id", ""))
        key = name.rpartition("-")[2]
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind in PLACES and not (one := getattr(element, kind)).disabled:
            of_kind = self.sliders if kind == "slider" else self.choices
            known = of_kind.get(one.label)
            if known is None or known.proto.id != one.id or one.set_value:
                found = Found(one, fragment, tuple(answer.metadata.delta_path), PLACES[kind](one))
                found.step = known.step if known else 1
                of_kind[one.label] = found
            else:
                known.proto, known.fragment = one, fragment
            if kind == "button_group":
                self.groups[key] = Found(one, fragment)
        elif kind == "vega_lite_chart" and name:
            params = {e["name"]: e for e in json.loads(element.vega_lite_chart.spec)["params"]}
            if bind := params.get("step", {}).get("bind"):
                bounds = [bind["value"][each] for each in ("min", "max", "step")]
                chart = Carried(name, fragment, tuple(answer.metadata.delta_path), *bounds)
                known = self.charts.get(key := key.rpartition("_")[0])
                is_known = known is not None and known.id == name
                start = round((params["step"]["value"][0]["value"] - chart.least) / chart.width)
                chart.at, chart.step = (known.at, known.step) if is_known else (start, 1)
                self.charts[key] = chart
        elif kind == "markdown" and element.markdown.body.startswith("**"):
            self.said = element.markdown.body
        elif kind == "code":
            self.codes.append(element.code.code_text)
        elif kind == "button":
            self.others[key] = name, fragment, ""
        elif kind == "bidi_component":
            self.others[key] = name, fragment, element.bidi_component.json or "{}"

    def _forget(self) -> None:
        """What a run of the whole page has not drawn again."""
        for controls in (self.sliders, self.choices, self.charts):
            for name in [name for name, each in controls.items() if each.id not in self._seen]:
                del controls[name]
        self.parts = {name: place for name, place in self.parts.items() if name in self._seen}
        self.rooms = {name: at for name, at in self.rooms.items() if f"moves_{name}" in self._seen}


def _about(widget: str, fragment: str) -> tuple[BackMsg, WidgetState]:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    return message, message.rerun_script.widget_states.widgets.add(id=widget)


def _place(slider: Slider) -> int:
    if slider.type == Slider.SELECT_SLIDER:
        chosen = slider.raw_value[0] if slider.set_value else None
        if chosen in slider.options:
            return list(slider.options).index(chosen)
    value = slider.value[0] if slider.set_value and slider.value else slider.default[0]
    return round((value - slider.min) / (slider.step or 1))


def _place_in_box(box: Selectbox) -> int:
    options = [*box.options]
    return options.index(box.raw_value) if box.raw_value in options else box.default


def _place_in_group(group: ButtonGroup) -> int:
    contents = [each.content for each in group.options]
    return contents.index(group.raw_values[0]) if group.raw_values else [*group.default, 0][0]


PLACES: dict[str, Callable[[Any], int]] = {
    "slider": _place,
    "selectbox": _place_in_box,
    "button_group": _place_in_group,
    "checkbox": lambda switch: int(switch.value if switch.set_value else switch.default),
}
"""Where a control of each kind stands, by what the server has sent."""
