"""A visitor without a browser: speaks Streamlit's own protocol, so that 50 fit on one machine."""

import asyncio
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from websockets.asyncio.client import connect

LINK = urlencode({"predict": "off"})
LONGEST = 60.0
"""Seconds without an answer, after which a session counts as lost."""


@dataclass
class Found:
    """A slider that the server has sent, where it stands, and the fragment it belongs to."""

    proto: Slider
    fragment: str
    at: int = 0
    step: int = 1

    @property
    def name(self) -> str:
        """Its key, such as `control_d_in`."""
        return self.proto.id.rpartition("-")[2]

    def move(self) -> None:
        """One step on, turning round at the ends."""
        if not 0 <= self.at + self.step <= self.last:
            self.step = -self.step
        self.at += self.step

    @property
    def last(self) -> int:
        """The number of the last place."""
        slider = self.proto
        return round((slider.max - slider.min) / (slider.step or 1)) if slider.step else 0


@dataclass
class Visitor:
    """One session on one page."""

    url: str
    page: str
    link: str = LINK
    """The settings, as the address has them, which the server may change."""
    sliders: dict[str, Found] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    script: str = ""
    """The page, as the server calls it."""
    received: int = 0
    turn: int = 0

    async def enter(self) -> "Visitor":
        """Open the page and wait until it is there."""
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        self.socket = await connect(address, subprotocols=["streamlit"], max_size=None)
        await self._run(BackMsg())
        return self

    async def leave(self) -> None:
        """Close the connection, as closing the tab does."""
        await self.socket.close()

    async def move(self) -> float:
        """Move the next of the page's sliders by a step; on a page without any, ask for it again.
        Seconds until the script has ended.
        """
        message = BackMsg()
        if not self.sliders:
            return await self._run(message)
        names = sorted(self.sliders)
        slider = self.sliders[names[self.turn % len(names)]]
        self.turn += 1
        slider.move()
        message.rerun_script.fragment_id = slider.fragment
        state = message.rerun_script.widget_states.widgets.add(id=slider.proto.id)
        if slider.proto.type == Slider.SELECT_SLIDER:
            state.string_array_value.data.append(slider.proto.options[slider.at])
        else:
            value = slider.proto.min + slider.at * slider.proto.step
            state.double_array_value.data.append(min(value, slider.proto.max))
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        message.rerun_script.query_string = self.link
        message.rerun_script.page_name = self.page
        message.rerun_script.page_script_hash = self.script
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            data = await asyncio.wait_for(self.socket.recv(), LONGEST)
            self.received += len(data)
            answer.ParseFromString(data)
            kind = answer.WhichOneof("type")
            if kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self._look(answer)
            elif kind == "page_info_changed":
                self.link = answer.page_info_changed.query_string
            elif kind == "navigation":
                self.script = answer.navigation.page_script_hash
            elif kind == "script_finished":
                if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self.errors.append("the script does not compile")
                if answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return time.perf_counter() - began

    def _look(self, answer: ForwardMsg) -> None:
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "slider" and not element.slider.disabled:
            slider = element.slider
            known = self.sliders.get(slider.label)
            if known is None or known.proto.id != slider.id or slider.set_value:
                found = Found(slider, answer.delta.fragment_id)
                found.at = _place(slider)
                found.step = known.step if known else 1
                self.sliders[slider.label] = found
            else:
                known.proto, known.fragment = slider, answer.delta.fragment_id


def _place(slider: Slider) -> int:
    if slider.type == Slider.SELECT_SLIDER:
        chosen = slider.raw_value[0] if slider.set_value else None
        if chosen in slider.options:
            return list(slider.options).index(chosen)
    value = slider.value[0] if slider.set_value and slider.value else slider.default[0]
    return round((value - slider.min) / (slider.step or 1))
