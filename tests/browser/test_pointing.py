"""Pointing at the cells of equations in a real browser: what lights up is what the steps say, and
the server is not told. At every width, light and dark, by touch.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product

import pytest

from attention_ui.charts import palette
from browser_tools import no_exception, open_page, settled, soon
from pointing import drawn_by, expected_bright, made_of
from sampling import few
from visiting import LESSONS

LINK = {"predict": "off", "cell": "none"}
CELLS = """(beat) => [...document.querySelectorAll(
    `.st-key-eq_${beat} svg g[class*=" matrix_"] path`)]
  .filter((path) => path.__data__?.datum?.matrix !== undefined)
  .map((path) => {
    const { matrix, row, column } = path.__data__.datum;
    const isCell = !!path.closest('g[class*=" cells_"]');
    return [matrix, row, column, isCell, path.getAttribute('stroke'),
            Number(path.getAttribute('opacity') ?? 1)];
  })"""
DIM = 0.3
MOST = 4
"""So many equations of a page are pointed at, or cells of one that is alone."""


@cache
def equations(lesson):
    """By name, the equations of a lesson as they should be drawn. In a thread of its own: the
    browser's event loop runs in this one.
    """
    with ThreadPoolExecutor(1) as apart:
        found = apart.submit(drawn_by, f"pages/{lesson}.py", LINK).result()
    return {each.name: each for each in found}


def link(lesson):
    return f"{lesson}?" + "&".join(f"{name}={value}" for name, value in LINK.items())


def sent(page):
    """The messages to the server, as they are sent."""
    messages = []

    def heard(message):
        messages.append(message)

    page.on("websocket", lambda socket: socket.on("framesent", heard))
    return messages


def shown(page, name, equation):
    """(matrix, row, column) of the cells that are outlined, and of those that are bright."""
    cells = [each for each in page.evaluate(CELLS, name) if each[0] < len(equation.matrices)]
    outlined = {(*each[:3],) for each in cells if each[4] == palette.CHOSEN}
    return outlined, {(*each[:3],) for each in cells if each[3] and each[5] != DIM}


def everything(equation):
    cells = {(at, *each) for at in range(len(equation.matrices)) for each in equation.indices(at)}
    return set(), cells


def lit_by(equation, at, place):
    """The same, as it should be while a cell is pointed at."""
    made = made_of(equation, at, equation.indices(at)[place])
    return {(at, *place)} | made, expected_bright(equation, at, place)


def becomes(page, name, equation, expected, seconds=10):
    """Wait until these cells are outlined, and these bright."""
    for _ in range(int(seconds / 0.05)):
        if shown(page, name, equation) == expected:
            return
        page.wait_for_timeout(50)
    for found, wanted in zip(shown(page, name, equation), expected, strict=True):
        assert found == wanted, (
            f"{name}: {sorted(found - wanted)} are, {sorted(wanted - found)} not"
        )


def cell(page, name, at, row, column):
    """A cell, by its datum: the order of the elements is not that of the page."""
    of_matrix = page.locator(f".st-key-eq_{name} svg g.cells_{at}_marks path")
    where = of_matrix.evaluate_all(
        "(paths, place) => paths.findIndex(({ __data__: { datum } }) =>"
        " datum.row === place[0] && datum.column === place[1])",
        [row, column],
    )
    return of_matrix.nth(where)


def middle(page, target):
    """Where the middle of a cell is, once it is in sight."""
    target.evaluate("path => path.scrollIntoView({ block: 'center', inline: 'center' })")
    settled(page)
    box = target.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def targets(page, lesson):
    """(name, equation, matrix, place) of cells to point at: of the results that are in the page."""
    there = {
        name: each
        for name, each in equations(lesson).items()
        if page.locator(f".st-key-eq_{name} svg.marks").count()
        and page.locator(f".st-key-eq_{name} svg.marks").is_visible()
    }
    assert there
    every = -(-len(there) // MOST)
    for name, equation in list(there.items())[::every]:
        made = [at for at, each in enumerate(equation.matrices) if each.step.inputs]
        results = made[-1:] if len(there) > 1 else made[1 :: -(-len(made) // MOST)]
        for at in results:
            n_rows, n_columns = equation.matrices[at].sizes
            yield name, equation, at, (n_rows // 3, n_columns // 2)


def away(page):
    page.mouse.move(1, 1)


FRAMES = """() => [...document.querySelectorAll('[class*=st-key-eq_] .stVegaLiteChart')]
  .filter((chart) => chart.checkVisibility())
  .map((chart) => {
    const { left, right } = chart.getBoundingClientRect();
    const frame = chart.closest('[class*=st-key-eq_]').getBoundingClientRect();
    const style = getComputedStyle(chart);
    return [left >= frame.left - 1 && right <= frame.right + 1 && right <= innerWidth + 1,
            chart.scrollWidth <= chart.clientWidth + 1, style.overflowX === 'auto',
            chart.closest('[class*=st-key-eq_]').className];
  })"""
"""Of each equation: whether it is inside its frame and the window, whole, and scrolls; its name."""


def fits(page):
    """No equation leaves its frame or is wider than a laptop's page; what is wider than a phone's
    scrolls, and nothing else can be pushed sideways.
    """
    frames, width = page.evaluate(FRAMES), page.viewport_size["width"]
    assert frames
    for inside, is_whole, scrolls, name in frames:
        assert inside, (width, name)
        assert is_whole or (width < 1280 and scrolls), (width, name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), width
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth + 1"), width


def lights_up(page, name, equation, at, place, messages):
    """Pointing at a cell lights up what the steps say, and the server is not told."""
    x, y = middle(page, cell(page, name, at, *place))
    assert 0 < x < page.viewport_size["width"], "what is wide can be scrolled to"
    away(page)
    settled(page)
    messages.clear()
    began = page.evaluate("window.testRuns.began")
    page.mouse.move(x, y)
    becomes(page, name, equation, lit_by(equation, at, place))
    away(page)
    becomes(page, name, equation, everything(equation))
    page.wait_for_timeout(300)
    assert messages == []
    assert page.evaluate("window.testRuns.began") == began


LOOKS = [(390, 844, "light"), (1920, 1080, "light"), (1920, 1080, "dark")]
"""Looks besides the first, 1280 pixels wide and light; one cell is pointed at in each."""


@pytest.mark.parametrize("lesson", few(LESSONS, 1, first="tokenize_and_embed"))
def test_pointing_lights_up_what_the_steps_say_at_any_width_light_and_dark(page, app_url, lesson):
    """And the server is not told, and an equation stays in its frame."""
    messages = sent(page)
    open_page(page, app_url, link(lesson))
    assert messages, "messages are heard"
    fits(page)
    pointed_at = list(targets(page, lesson))
    for target in pointed_at:
        lights_up(page, *target, messages)
    grounds = set()
    for width, height, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        settled(page)
        grounds.add(page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor"))
        fits(page)
        lights_up(page, *pointed_at[0], messages)
    assert len(grounds) == 2, "light and dark"
    no_exception(page)
    assert page.problems == []


def opened_cell(page, name):
    return page.locator(f".st-key-cell_{name} strong code").inner_text()


@pytest.mark.parametrize(
    ("lesson", "width"), few(product(["simplified_attention", "whole_layer"], [390, 1920]), 1)
)
def test_a_tap_or_a_click_outlines_and_opens(new_page, app_url, lesson, width):
    is_phone = width == 390
    page = new_page(viewport={"width": width, "height": 900}, has_touch=is_phone)
    open_page(page, app_url, link(lesson))
    name, equation, at, place = list(targets(page, lesson))[-1]
    x, y = middle(page, cell(page, name, at, *place))
    if is_phone:
        page.touchscreen.tap(x, y)
    else:
        page.mouse.move(x, y)
        becomes(page, name, equation, lit_by(equation, at, place))
        page.mouse.click(x, y)
    settled(page)
    index = ", ".join(map(str, equation.indices(at)[place]))
    assert opened_cell(page, name) == f"{equation.matrices[at].step.name}[{index}]"
    outlined, _ = lit_by(equation, at, place)
    assert shown(page, name, equation)[0] == outlined
    no_exception(page)
    assert page.problems == []


SENTENCE = """(beat) => {
  const view = document.querySelector(`.st-key-eq_${beat} svg g[class*=" sentence_"]`);
  const ofType = (type) => [...view.querySelectorAll(`g.${type}.role-mark`)];
  const arcs = ofType('mark-symbol').flatMap((group) => [...group.querySelectorAll('path')])
    .map(({ __data__: { datum } }) => [datum.i, datum.j, datum.value]);
  const shares = ofType('mark-text').flatMap((group) => [...group.querySelectorAll('text')])
    .map((text) => text.textContent).filter((text) => text.endsWith('%'));
  return { arcs: arcs.sort((one, other) => one[1] - other[1]), shares };
}"""


def test_pointing_at_a_token_draws_its_weights_on_the_sentence(page, app_url):
    lesson = "simplified_attention"
    messages = sent(page)
    open_page(page, app_url, link(lesson))
    name, equation = next(
        (name, each)
        for name, each in equations(lesson).items()
        if page.locator(f".st-key-eq_{name} svg g[class*=' sentence_']").count()
    )
    weights = [each.step for each in equation.matrices if each.step.name.endswith("weights")][-1]
    number = len(equation.matrices)

    def is_drawn(query):
        row = weights.value[query].tolist()
        wanted = [
            [query, key, pytest.approx(value)]
            for key, value in enumerate(row)
            if value > 0.005 and key != query
        ]
        shares = [f"{value:.0%}" for value in row]
        soon(page, lambda: page.evaluate(SENTENCE, name), {"arcs": wanted, "shares": shares})

    is_drawn(equation.first_query)
    for query in (2, 7):
        token = page.locator(f".st-key-eq_{name} svg g.cells_{number}_marks path").nth(query)
        x, y = middle(page, token)
        messages.clear()
        page.mouse.move(x, y)
        is_drawn(query)
        assert messages == []
    away(page)
    is_drawn(equation.first_query)
    at = equation.matrices.index(next(m for m in equation.matrices if m.step is weights))
    x, y = middle(page, cell(page, name, at, 4, 1))
    page.mouse.move(x, y)
    is_drawn(4)
    no_exception(page)
    assert page.problems == []
