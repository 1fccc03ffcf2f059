"""Addresses from before some settings were renamed: each still means what it meant."""

from urllib.parse import parse_qsl, urlencode

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_ui.settings.link import OLDER, from_query, pinned, to_query
from attention_ui.settings.settings import ALIASES, FIELDS, SETTINGS, VIEW_ONLY, Settings
from builds import BUILDS
from ends import ends
from visiting import LESSONS, stands, visit

TODAY = {
    "text": "sentence",
    "ids": "vocabulary",
    "width": "d_in",
    "heads": "n_heads",
    "likeness": "similarity",
}
"""What these addresses call a setting, and its name of today. Written out: an address that somebody
keeps does not change with the code."""
LINKS = {
    "whole_layer": (
        "heads=4&d_model=8&text=A+cat+sat&tokenizer=text&opened=weights&cell=head_scores.0.1.0",
        "width=5&ids=random&pin=heads%3D4%26d_model%3D4%26normalise%3Dsum",
    ),
    "app": (
        "text=A+cat+sat&tokenizer=text&seed=5",
        "lock=text,heads&hide=seed&text=A+cat+sat&seed=7",
        "lock=seed,example&hide=width&seed=7&width=5",
    ),
    "tokenize_and_embed": (
        "learned=example&reserved=1&text=A+zebra",
        "text=the+cat+the&tokenizer=text&ids=duplicates",
        "learned=example&text=The+zebra&tokenizer=text&beat=ids&cell=token_ids.1",
        "ids=random&width=2&edits=0.0:0.5&lock=ids",
        "example=life_is_short&width=4&positions=on&hide=ids,width",
        "text=caf%C3%A9+%26+%E7%8C%AB%3F&tokenizer=blanks&drop_blanks=on",
    ),
    "simplified_attention": (
        "predict=off&seed=5&width=4&text=A+cat+sat&tokenizer=text",
        "text=A+cat+sat+on+a+mat&tokenizer=text&seed=5&width=4&cell=scores.1.3&predict=off",
        "likeness=cosine&divide=sqrt_d&width=2&across=1&edits=0.1:0.75",
        "width=4&pin=text%3Da%2Bb%2Bc%2Bd",
        "example=life_is_short&pin=example%3Dlife_is_short%26width%3D4%26ids%3Drandom",
    ),
    "softmax_or_sum": (
        "width=1&edits=0.0:1000,1.0:-1000,2.0:1000&magnify=128",
        "text=a+b+c&tokenizer=blanks&row_from=hand&typed=1,-2",
    ),
    "divide_by_sqrt_d": ("vlook=width&width=6", "vd=4096&trials=10&text=a+b&lock=width,vd"),
    "queries_keys_values": (
        "width=64&d_out=64&d_v=1&start=linear&bias=on",
        "width=14&d_out=14&d_v=14&k_edits=13.13:2.5",
        "text=a+b+c+d&q_edits=0.0:1000&scale=none&cell=queries.1.1",
        "t_width=16&steps=10&width=5&pin=seed%3D5%26width%3D5",
    ),
    "causal_mask": (
        "predict=off&text=A+cat+sat&tokenizer=text&cell=mask.1.1&dropout=0.3",
        "text=a+b+c&tokenizer=blanks&window=40&hidden=7&width=4",
    ),
    "multi_head_attention": (
        "heads=4&d_model=4",
        "heads=8&d_model=64&causal_heads=on&head_off=7&width=4",
        "heads=3&d_model=6&d_head=2&d_value=3&hide=heads,d_model",
        "heads=8&d_model=8&text=a+b+c+d&tokenizer=blanks&ids=random&lock=heads,text",
        "heads=2&d_model=4&pin=heads%3D4%26d_model%3D4%26likeness%3Dcosine%26text%3DA%2Bcat",
    ),
}
"""By the page that they open."""
ALL = [(page, link) for page, links in LINKS.items() for link in links]


def query_of(link):
    return dict(parse_qsl(link, keep_blank_values=True))


def in_names_of_today(query):
    """The parameters of an address, as one of today has them."""
    query = {TODAY.get(name, name): text for name, text in query.items()}
    if "pin" in query:
        query["pin"] = urlencode(in_names_of_today(query_of(query["pin"])))
    for name in {"hide", "lock"} & query.keys():
        query[name] = ",".join(TODAY.get(each, each) for each in query[name].split(","))
    return query


def names_in(query):
    """The settings that an address names, also those it has pinned, hidden and locked."""
    listed = ",".join(query[name] for name in ("hide", "lock") if name in query)
    return {*query, *query_of(query.get("pin", "")), *listed.split(",")} - {""}


def of_today(query):
    """Whether an address has names of today alone."""
    return names_in(query) <= FIELDS.keys() and not names_in(query) & TODAY.keys()


def test_every_older_name_stands_in_these_addresses_and_in_a_pin():
    assert TODAY == ALIASES
    assert {*LINKS} <= {"app", *LESSONS}, "a lesson that is newer has no older links"
    queries = [query_of(link) for _, link in ALL]
    assert {name for query in queries for name in query} >= TODAY.keys()
    assert {name for query in queries for name in query_of(query.get("pin", ""))} >= TODAY.keys()
    for query in queries:
        assert TODAY.keys() & names_in(query)
        assert of_today(in_names_of_today(query))


@pytest.mark.parametrize("link", [link for _, link in ALL])
def test_an_older_address_gives_the_same_settings_and_tensors(link):
    settings, notices = from_query(query_of(link))
    assert notices == []
    same, notices = from_query(in_names_of_today(query_of(link)))
    assert notices == []
    assert settings == same != Settings.of(EXAMPLES[OLDER])
    assert of_today(to_query(settings))
    assert from_query(to_query(settings)) == (settings, [])
    assert bool(pinned(settings)) == ("pin=" in link)
    for ours, other in ((settings, same), (pinned(settings), pinned(same))):
        for build in BUILDS if ours else ():
            trace, again = build(ours), build(other)
            assert [*trace] == [*again]
            for name in trace:
                assert torch.equal(trace[name].value, again[name].value), name


@pytest.mark.slow("15 s: the page of each")
@pytest.mark.parametrize(("page", "link"), ALL)
def test_the_page_of_an_older_address_writes_only_names_of_today(page, link):
    at = stands(visit("app.py" if page == "app" else page, **query_of(link)))
    assert at.session_state["notices"] == []
    written = [dict(at.query_params)]
    written += [query_of(each.proto.query_string) for each in at.get("page_link")]
    assert written[0] == to_query(from_query({"predict": "off", **query_of(link)})[0])
    assert all(map(of_today, written))


def test_an_older_address_may_be_as_long_as_they_were():
    """Names of today are longer, and an address of today has its example."""
    query = query_of("tokenizer=blanks&ids=duplicates&width=4&heads=4")
    query |= {"likeness": "cosine", "text": "a" * 64}
    pin = urlencode({"example": OLDER, **query})
    query["pin"] = pin + "a" * (4_000 - len(pin))
    query |= {"hide": ",".join(TODAY), "lock": ",".join(TODAY)}
    query["text"] += "a" * (7_500 - len(urlencode(query)))
    settings, notices = from_query(query)
    assert notices == []
    assert (settings, []) == from_query(in_names_of_today(query)) == from_query(to_query(settings))
    assert settings.sentence == query["text"]


@pytest.mark.parametrize("new", FIELDS)
def test_any_setting_can_have_an_older_name(new, monkeypatch):
    """Also where it is hidden, locked or pinned; the address is written with the name of today."""
    old = SETTINGS[new].once or "older"
    monkeypatch.setitem(ALIASES, old, new)
    assert old not in FIELDS
    said = texts_of(new)
    links = [{name: "seed,{}"} for name in ("hide", "lock")]
    links += [{"pin": f"{{}}={text}"} for text in said if new not in VIEW_ONLY]
    links += [{"{}": text} for text in (*said, "no such")]
    for link in links:
        by_old, by_new = (
            from_query({key.format(name): text.format(name) for key, text in link.items()})
            for name in (old, new)
        )
        assert by_old == by_new, link
        assert by_old[0] != Settings.of(EXAMPLES[OLDER]) or "no such" in link.values()
        assert from_query(to_query(by_old[0])) == (by_old[0], [])
        assert old not in names_in(to_query(by_old[0]))
    assert from_query({old: "no such", new: said[0]}) == from_query({new: said[0]})


def texts_of(name):
    """What a link may say of a setting, other than its example's own."""
    tried = (*ends(name), "1", "2", "1.0", "scores", "scores.1.1", "seed", "seed=3")
    read = {text: from_query({name: text}) for text in tried}
    plain = getattr(Settings.of(EXAMPLES[OLDER]), name)
    return [
        text
        for text, (settings, notices) in read.items()
        if not notices and getattr(settings, name) != plain
    ]
