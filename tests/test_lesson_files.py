"""Lessons as files: every card is whole or says why not, and nothing that is typed becomes HTML."""

import html
import json
import re
import zipfile
from itertools import chain
from xml.etree import ElementTree

import pytest

from attention_core import Trace
from attention_core import operations as ops
from attention_explorer import command
from attention_ui.cards.question import fingerprint_of
from attention_ui.cards.review import declared
from attention_ui.frame.contents import LESSONS
from attention_ui.site.folder import folder
from attention_ui.site.in_file import INSTEAD, in_file
from attention_ui.site.lesson_file import MOST_BYTES, CannotBe, lesson_file
from attention_ui.site.markdown import inline, markdown
from attention_ui.site.reader import Reader
from conftest import ROOT
from lesson_states import columns_of, pictures_in, told_in
from sampling import marked

NAMES = [each.name for each in LESSONS]
HOSTILE = '<img src=x onerror=alert(1)> "\'&`$x$ **b** :red[r] [l](javascript:1) data-picture="7"'
ONLY_IN_APP = re.compile("to change it|sidebar|program below|magnifying glass|So can you:")
"""What a file has none of."""
LONG_WORK = ("heads_learning", "queries_keys_values", "real_model")


def written(name, **texts):
    return lesson_file(ROOT / "pages" / f"{name}.py", texts, moves=False, most_seconds=0.0)


@pytest.mark.parametrize(
    "name", marked(NAMES, ("cross_attention",), pytest.mark.slow("60 s: all other lessons"))
)
def test_every_card_is_written(name):
    made = written(name)
    page = made.page()
    told = told_in(page)
    for card in made.baked.reader.page.every_card():
        states = {key: told["html"][at] for key, at in told["pieces"][card.name]["states"].items()}
        assert f'id="{card.name}"' in page
        if states["?"]:  # else its `when` says that it is not there
            assert re.sub("<[^>]+>", "", states["?"]).strip() or "data-picture" in states["?"]
    lost = [each for all_of in made.baked.writer.needs_app.values() for each in all_of]
    assert not [each for each in lost if "shows more here" in each], "an element has no form"
    assert len(page.encode()) < MOST_BYTES
    for each in told["html"]:
        for place in pictures_in(each):
            assert place < len(told["pictures"])
        assert not ONLY_IN_APP.search(re.sub("<[^>]+>", "", each))


@pytest.mark.parametrize("name", ["simplified_attention", "tokenize_and_embed"])
def test_what_is_typed_is_text(name):
    made = written(name, sentence=f"{HOSTILE} cat", example="wild_cat")
    page = made.page()
    told = told_in(page)
    everything = [page, *told["html"]]
    everything += [each for one in told["cells"] for each in (*one.get("said", ()), one["words"])]
    for each in everything:
        assert "<img" not in each
        assert 'href="javascript' not in each
        tags = re.findall(r"<[a-zA-Z][^>]*>", each)
        assert not [tag for tag in tags if "onerror" in re.sub(r'"[^"]*"', "", tag)]
    assert plain_text(page).count("onerror=alert(1)") >= 1, "the sentence is there, as text"


def plain_text(page):
    return html.unescape(re.sub("<[^>]+>", "", re.sub(r"<(style|script).*?</\1>", "", page)))


def test_numbers_are_those_of_the_trace():
    """What pictures have, against the page's own trace at the settings that the file has."""
    made = written("causal_mask", seed="3", sentence="the small dog sees the cat")
    told = told_in(made.page())
    reader = made.baked.reader
    with reader.here():
        reader.goes_to(reader.base)
        weights = reader.page.trace().whole()["weights"].value
    (picture,) = pictures_in(told["html"][told["pieces"]["context"]["states"]["?"]])
    columns = columns_of(told, picture)
    rows = zip(*(columns[each] for each in ("kind", "m", "i", "j", "tip")), strict=True)
    cells = [(i, j, tip) for kind, m, i, j, tip in rows if kind == 0 and m == 0]
    assert len(cells) == weights.numel()
    for i, j, tip in cells:  # such as “e^(…) / (…) = 0.9994”
        assert float(tip.rpartition("=")[2]) == pytest.approx(float(weights[i, j]), abs=6e-5)


def arithmetic(told):
    """Each line of a file on how a cell comes about: its equation, and what goes into it."""
    for step in told["cells"]:
        for line in step.get("cells", "").split("\n"):
            if line and line != "-":
                which, _, *rest = line.split(" ")
                yield step["made"][int(which)], [each for each in rest if each[0] != "@"]


@pytest.mark.parametrize("name", ["causal_mask", "softmax_or_sum", "transformer_block"])
def test_each_number_and_each_sign_of_a_cell_has_its_room_in_the_equation(name):
    """Else the numbers that follow would stand in each other's place."""
    n_signs = 0
    for equation, given in arithmetic(told_in(written(name).page())):
        rooms = re.findall(r"<mn>(777[78])</mn>", equation)
        assert [room == "7778" for room in rooms] == [each in "+-" for each in given], equation
        n_signs += rooms.count("7778")
    assert n_signs > 100


def test_a_guess_is_kept_under_numbers_that_are_the_same_in_each_process():
    """A course platform has them from the file as it was written before."""
    made = Trace().step("one", ops.Given((1.0, -2.5, 3.25)), axes=("key",))
    assert fingerprint_of([made], only_shapes=False) == 14142270834469914253


def test_while_a_question_is_open_its_numbers_are_in_no_state_of_it():
    made = written("simplified_attention")
    told = told_in(made.page())
    reader = made.baked.reader
    (ask,) = reader.page.asks
    with reader.here():
        reader.goes_to(reader.base, {ask.name})
        cover = ask.covered()["weights"]
    hidden = {divmod(at, cover.shape[1]) for at, is_so in enumerate(cover.mask.flatten()) if is_so}
    assert hidden
    states = told["pieces"]["weights"]["states"]
    picture = pictures_in(told["html"][states[f"?{ask.name}"]])[0]
    columns = columns_of(told, picture)
    none = [None] * told["pictures"][picture]["n"]
    at = columns["text"][-1].split("|").index("weights")
    each = (columns.get(name, none) for name in ("kind", "m", "i", "j", "text", "exact"))
    rows = zip(*each, strict=True)
    asked = [(text, exact) for kind, m, i, j, text, exact in rows
             if kind == 0 and m == at and (i, j) in hidden]  # fmt: skip
    assert len(asked) == len(hidden)
    assert {text for text, _ in asked} == {"?"}
    assert {exact for _, exact in asked} == {None}
    cells = told["cells"][told["pictures"][picture]["cells"]["weights"]]
    lines = cells["cells"].split("\n")
    assert {lines[i * cover.shape[1] + j] for i, j in hidden} == {"-"}


def test_a_control_that_moves_comes_to_what_the_page_would_be_there():
    """A state of a card is that of a file which opens at that setting, but for its own numbers."""
    made = lesson_file(ROOT / "pages" / "build_a_head.py", {}, most_seconds=0.0)
    told = told_in(made.page())
    followed = [(piece, name) for name, piece in told["pieces"].items() if piece["axes"]]
    assert told["controls"]
    for piece, name in followed:
        for axis in [each for each in piece["axes"] if each != "predict"][:1]:
            control = told["controls"][axis]
            text = next(each for each in control["texts"] if each != control["base"])
            other = written("build_a_head", **{axis: text})
            there = told_in(other.page())
            one = told["html"][piece["states"][f"{axis}={text}?"]]
            whole = there["html"][there["pieces"][name]["states"]["?"]]
            assert without_places(one) == without_places(whole), (name, axis, text)


def test_a_control_moves_while_a_question_is_open_that_another_control_leads_to():
    """The query’s row is covered only at another query; until then the picture’s axes move."""
    made = lesson_file(ROOT / "pages" / "simplified_attention.py", {})
    (piece,) = (each for each in made.baked.pieces if each.name == "picture")
    assert "looks_at" in piece.asks
    assert {"across=1?", "across=1?looks_at", "up=3?looks_at"} <= piece.states.keys()


def test_what_a_teacher_s_link_locks_stays_in_a_file_too():
    locked = {"lock": "window,masking,predict", "hide": "hidden"}
    page = lesson_file(ROOT / "pages" / "causal_mask.py", locked, most_seconds=0.0).page()
    told = told_in(page)
    assert 'data-control="predict"' not in page
    assert not {"window", "masking", "predict", "hidden"} & told["controls"].keys()
    assert "causal" in told["controls"]
    assert not told["passes"], "who reads on has to guess"
    placed = {each for one in told["html"] for each in re.findall(r'data-control="(\w+)"', one)}
    assert placed <= told["controls"].keys()
    free = lesson_file(ROOT / "pages" / "causal_mask.py", {}, moves=False).page()
    assert told_in(free)["passes"]
    assert 'data-control="predict"' in free


QUESTIONS = {"sentence": "the small dog sees the cat", "seed": "5"}


@pytest.mark.parametrize(
    "name",
    marked(NAMES, ("queries_keys_values", "without_softmax"), pytest.mark.slow("20 s: others")),
)
def test_a_number_that_stands_only_where_a_question_covers_it_stands_nowhere_in_its_state(name):
    """Not in a cell, beside a picture, at another position of a control, nor in a sentence."""
    page = ROOT / "pages" / f"{name}.py"
    known = Reader(declared(page), {}).base
    texts = {each: text for each, text in QUESTIONS.items() if each in known}
    told = told_in(lesson_file(page, texts, moves=False, most_seconds=0.0).page())
    n_covered = 0
    for piece in told["pieces"].values():
        states = {key: pictures_in(told["html"][at]) for key, at in piece["states"].items()}
        for key in states.keys() - {"?"}:
            for free, asked in zip(states["?"], states[key], strict=False):
                secret, seen = told_apart(columns_of(told, free), columns_of(told, asked))
                n_covered += len(secret)
                assert not secret & seen, (piece["title"], key)
    assert n_covered or name != "queries_keys_values"


def told_apart(free, asked):
    """Numbers of cells that a question covers, and of no other cell, and all that is told while it
    is open, of the picture in which it is not, and is.
    """
    if "id" not in free:  # a drawing of no cells
        return set(), set()
    covered = {each for each, text in zip(asked["id"], asked["text"], strict=True) if text == "?"}
    kept, hidden, told = set(), set(), set()
    for row in rows_of(free):
        numbers = numbers_of(row)
        if row["id"] in covered:
            hidden |= numbers
        elif not (row["id"] or "words").startswith("words"):  # among them are the ends of scales
            kept |= numbers
    for row in rows_of(asked):
        told |= numbers_of(row)
    return {each for each in hidden - kept if len(each) > 3}, told


def rows_of(columns):
    names = [each for each in ("id", "text", "texts", "tip", "exact", "where") if each in columns]
    rows = zip(*map(columns.get, names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def numbers_of(row):
    """The numbers that a row of a picture says, also as they are rounded below a cell."""
    said = [each for name, each in row.items() if name != "id" and isinstance(each, str)]
    exact = row.get("exact")
    return {*NUMBER.findall(" ".join(said)), *([] if exact is None else [f"{abs(exact):.4f}"])}


NUMBER = re.compile(r"−?\d+\.\d+")


def without_places(each):
    """The words of a card, without which picture it is, and where its controls stand."""
    each = re.sub(r' data-(picture|first|value|words|texts|choices)="[^"]*"', "", each)
    return re.sub(r' style="[^"]*"', "", each)


@pytest.mark.parametrize(("texts", "said"), [
    ({"sed": "3"}, "causal_mask has no control 'sed'. It has example,"),
    ({"seed": "x"}, "seed='x' cannot be used: it must be a whole number"),
    ({"window": "<b>"}, "window='<b>' cannot be used"),
])  # fmt: skip
def test_settings_that_cannot_be_are_said(texts, said):
    with pytest.raises(CannotBe) as error:
        written("causal_mask", **texts)
    assert str(error.value).startswith(said)


def test_the_command_says_what_cannot_be(capsys):
    assert command.main(["page", "nope"]).startswith("There is no lesson 'nope'. There are: whole_")
    with pytest.raises(SystemExit):
        command.main(["page", "causal_mask", "window"])
    assert "'window': give a setting as name=value" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["page", "causal_mask", "--app", "javascript:1"])
    assert "is no address" in capsys.readouterr().err


def test_what_only_the_app_has_is_said_otherwise_in_a_file():
    """Each of these sentences is one of a lesson's, so none is forgotten when a lesson changes."""
    rooms = (ROOT / "pages").glob("*.py"), (ROOT / "attention_ui" / "lessons").rglob("*.py")
    joined = (re.sub(r'"\s*\n\s*f?"', "", file.read_text("utf-8")) for file in chain(*rooms))
    said = "\n".join(joined)
    assert [each for each in INSTEAD if each not in said] == []
    assert in_file("Every entry may change. So can you: click a number.").endswith("in the app.")


def test_markdown_is_ours():
    assert inline(":green[:material/check:] a `:red[x]` $A_1$").startswith(
        '<span class="green">✓</span> a <code>:red[x]</code> <math'
    )
    assert markdown("<script>1</script>") == "<p>&lt;script&gt;1&lt;/script&gt;</p>\n"
    assert inline(r"\:red\[x\] :red[x") == ":red[x] :red[x"
    assert "href" not in inline("[a](javascript:alert(1))")
    assert inline(":red[a :gray[b] c]") == (
        '<span class="red">a <span class="gray">b</span> c</span>'
    )


def test_a_site_has_all_that_it_links_to():
    made = folder(ROOT / "pages", ["build_a_head", "cross_attention"], moves=False)
    assert {*made.files} == {
        *("build_a_head.html", "cross_attention.html", "index.html", "glossary.html"),
        *("vega.js", "page.js", "page.css", "fonts.css", "home.js", "worker.js"),
    }
    for name, text in made.files.items():
        if name.endswith(".html"):
            for address in re.findall(r'(?:href|src)="([^"#]+)["#]', text):
                assert address in ("data:,", *made.files), (name, address)
    kept = json.loads(re.search(r"FILES = (\[.*?\])", made.files["worker.js"])[1])
    assert {*kept} == {"./", *made.files} - {"worker.js"}
    index = re.search(r'id="index">(.*?)</script>', made.files["index.html"], re.S)[1]
    found = json.loads(index)
    assert {each["address"].partition("#")[0] for each in found} <= {*made.files}
    assert any(each["title"] == "Roles" or each["lesson"] for each in found)
    asked = [each for each in found if each["address"] == "cross_attention.html#answers"]
    assert asked
    assert all(each["title"].endswith("?") for each in asked)
    assert len(made.files["build_a_head.html"]) < 200_000, "Vega stands there once, for all"


def test_a_site_of_lessons_that_are_not_there_is_none(tmp_path):
    said = command.main(["site", str(tmp_path / "out"), "--lesson", "nope"])
    assert said.startswith("There is no lesson 'nope'.")
    assert not (tmp_path / "out").exists()


CP, ADLCP = (
    "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}",
    "{http://www.adlnet.org/xsd/adlcp_rootv1p2}",
)


@pytest.mark.parametrize(("names", "settings", "shared"), [
    (["build_a_head"], ["predict=off"], []),
    (["cross_attention", "build_a_head"], ["seed=3"],
     ["vega.js", "page.js", "page.css", "fonts.css", "scorm.js"]),
])  # fmt: skip
def test_a_package_is_what_its_manifest_says(names, settings, shared, tmp_path, capsys):
    """By the rules of SCORM 1.2: each name once, each reference leads somewhere, each file is
    there and is told of, and nothing else is there.
    """
    output = tmp_path / "made.zip"
    assert command.main(["scorm", *names, "-o", str(output), *settings]) == 0
    said = capsys.readouterr().out
    assert all(title in said for title in ["Build a head", "Cross-attention"][: len(names)])
    with zipfile.ZipFile(output) as packed:
        there = {name: packed.read(name).decode() for name in packed.namelist()}
    assert there.keys() == {"imsmanifest.xml", *(f"{each}.html" for each in names), *shared}
    manifest = ElementTree.fromstring(there["imsmanifest.xml"])
    assert [each.tag for each in manifest] == [
        f"{CP}{name}" for name in ("metadata", "organizations", "resources")
    ]
    assert manifest.findtext(f"{CP}metadata/{CP}schemaversion") == "1.2"
    called = [each.get("identifier") for each in manifest.iter() if each.get("identifier")]
    assert len({*called}) == len(called)
    assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", each) for each in called), "names of XML"
    (organization,) = manifest.find(f"{CP}organizations")
    assert manifest.find(f"{CP}organizations").get("default") == organization.get("identifier")
    resources = {each.get("identifier"): each for each in manifest.find(f"{CP}resources")}
    items = organization.findall(f"{CP}item")
    lessons = [resources[each.get("identifierref")] for each in items]
    assert [each.get("href") for each in lessons] == [f"{each}.html" for each in names]
    assert {each.get(f"{ADLCP}scormtype") for each in lessons} == {"sco"}
    assert all(each.findtext(f"{CP}title") for each in (organization, *items))
    assert {each.get("isvisible") for each in items} == {"true"}, "else Open edX leaves it out"
    listed = set()
    for each in resources.values():
        files = [file.get("href") for file in each.findall(f"{CP}file")]
        assert each.get("href") in (None, *files)
        assert {one.get("identifierref") for one in each.findall(f"{CP}dependency")} <= {*resources}
        listed |= {*files}
    assert listed == there.keys() - {"imsmanifest.xml"}
    for each in lessons:
        for address in re.findall(r'(?:href|src)="([^"#]+)["#]', there[each.get("href")]):
            assert address == "data:," or address in shared, address


@pytest.mark.parametrize(("given", "said"), [
    (["nope", "causal_mask"], "There is no lesson 'nope'."),
    (["causal_mask", "causal_mask"], "Name each lesson once."),
    (["causal_mask", "build_a_head", "sed=3"], "None of these lessons has a control 'sed'."),
    (["seed=3"], "Name a lesson, such as causal_mask."),
])  # fmt: skip
def test_a_course_that_cannot_be_is_said(given, said):
    assert command.main(["scorm", *given]).startswith(said)
