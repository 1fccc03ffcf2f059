"""What heads do over many sentences, on the page of a real model."""

import shutil

import pyarrow as pa
import pytest
import torch

from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.survey import of_tiny_language, survey
from attention_core.real_model.tiny import TINY as FOLDER
from attention_ui.frame import models
from attention_ui.lessons.real_model import running, surveyed
from attention_ui.lessons.real_model.seen import Seen
from attention_ui.words import percent
from visiting import _opened, charts, stands, texts, words

N_HEADS = 8


@pytest.fixture(scope="module")
def model():
    return open_model(FOLDER)


@pytest.fixture(scope="module")
def found(model):
    *_, (_, made) = survey(model, of_tiny_language())
    return made


@pytest.fixture(scope="module")
def seen(model):
    return Seen(run(model, model.tokenizer.encode("the tired cat sees the dog because it").ids))


def visit(**link):
    return _opened("real_model", {"predict": "off", **link}, row_deeper=True)


def plane_of(at):
    (sent,) = (each for each in charts(at) if "heads by " in each.alt)
    return pa.ipc.open_stream(sent.data.data).read_all().to_pandas(), sent


def test_heads_stand_where_the_survey_has_them(found):
    at = stands(visit(model="tiny", model_head="1.2", survey_across="first", survey_up="near"))
    points, sent = plane_of(at)
    assert len(points) == N_HEADS
    for row in points.itertuples():
        layer, head = map(int, row.id.split("."))
        assert row.across == pytest.approx(found.mean("first", layer, head))
        assert row.up == pytest.approx(found.mean("near", layer, head))
    assert [*points[points["chosen"]]["id"]] == ["1.2"]
    assert points["chosen"].iloc[-1], "the chosen one lies above the others"
    assert MEASURES["first"].name in sent.spec
    told = f"Head 1.2: {percent(found.mean('first', 1, 2))} and {percent(found.mean('near', 1, 2))}"
    assert told in sent.alt


def test_the_pairs_are_the_strongest_of_the_chosen_head(model, found):
    at = stands(visit(model="tiny", model_head="0.1"))
    (table,) = (each.value for each in at.dataframe if "looks from" in each.value.columns)
    pairs = found.pairs(0, 1)
    assert len(table) == len(pairs) == 10
    for row, pair in zip(table.to_dict("records"), pairs, strict=True):
        sentence = of_tiny_language()[pair.sentence]
        ids = model.tokenizer.encode(sentence).ids
        assert row["in"] == sentence
        assert row["looks from"] == f"{model.tokenizer.piece(ids[pair.query])} ({pair.query})"
        assert row["at"] == f"{model.tokenizer.piece(ids[pair.key])} ({pair.key})"
        assert row["weight"] == percent(float(run(model, ids).weights[0, 1, pair.query, pair.key]))


def with_means(found, **means):
    """A survey in which one head does so much of each measure, and nothing of the others."""
    shares = torch.tensor([means.get(name, 0.0) for name in MEASURES], dtype=torch.float64)
    kept = type(found).__new__(type(found))
    kept.__dict__.update(found.__dict__ | {"means": shares[:, None, None].expand(-1, 2, 4)})
    return kept


def test_a_name_is_given_to_what_holds_and_says_on_how_much(found, seen):
    told = surveyed.name_of(with_means(found, previous=0.612, near=0.99), seen, (1, 2))
    n_asked, n_sentences = found.asked("previous")
    here = float(MEASURES["previous"].of(seen.run.weights[1, 2], seen.run.ids))
    assert told == (
        f"Over {n_sentences} sentences, 61% of the weight of head 1.2 goes to the token "
        f"before (the mean of {n_asked:,} tokens): a previous-token head. On your text: "
        f"{percent(here)}."
    )


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The tiny model as a person's own, with a few sentences that it can read as ours."""
    folder = tmp_path / "mine"
    shutil.copytree(FOLDER, folder)
    running._kept.clear()  # of another model that a test has opened as its own
    monkeypatch.setenv(models.MODEL, str(folder))
    monkeypatch.setattr(surveyed, "english", lambda: of_tiny_language()[:7])


def button(at):
    (found,) = (each for each in at.button if each.key == "start_or_stop_survey_of_model")
    return found


@pytest.mark.usefixtures("own")
def test_a_larger_model_waits_for_its_button_and_is_surveyed_once(monkeypatch):
    at = stands(visit())
    assert "This takes 7 sentences through 2 layers each" in words(at)
    assert not [each for each in charts(at) if "heads by " in each.alt]
    at = stands(button(at).click().run())
    points, _ = plane_of(at)
    assert len(points) == N_HEADS
    assert "over 7 sentences" in texts(at).lower()

    def again(*_):
        raise AssertionError("it was kept")

    monkeypatch.setattr(surveyed, "survey", again)
    assert len(plane_of(stands(visit()))[0]) == N_HEADS, "another visitor has it at once"
    monkeypatch.setattr(surveyed, "english", lambda: of_tiny_language()[:8])
    assert button(stands(visit())), "of other sentences it is made anew"


def test_a_survey_that_is_stopped_shows_what_it_has():
    model = open_model(FOLDER)
    steps = surveyed._slices(model, of_tiny_language()[:7])
    share, part = next(steps)
    steps.close()
    assert share == pytest.approx(1 / 7)
    assert part.n_read == 1
    assert model not in surveyed._SURVEYS, "half a survey is not kept"


@pytest.mark.usefixtures("own")
def test_a_model_without_our_words_says_so(monkeypatch):
    monkeypatch.setattr(surveyed, "english", lambda: ("no zebra", "none at all"))
    assert "it can read none" in texts(stands(button(stands(visit())).click().run()))
