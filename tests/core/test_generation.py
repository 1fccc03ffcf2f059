"""Drawing the next token and writing on: as `transformers` does it, and as plain loops do."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from torch.utils.flop_counter import FlopCounterMode

from attention_core.real_model import tiny
from attention_core.real_model.drawing import Cuts, Offered, number_drawn, offered
from attention_core.real_model.generation import beam, drawing, greedy, products, read_on, write
from attention_core.real_model.model import open_model
from attention_core.real_model.run import Cache, logits, run
from attention_core.real_model.tokenizer_fields import ends_in
from model_folders import FAMILIES, config, make
from sampling import marked

IDS, N = (3, 17, 5, 41), 9
SPEAKING = [n for n, (kind, _) in FAMILIES.items() if kind.endswith(("CausalLM", "HeadModel"))]
CUTS = some.builds(
    Cuts,
    temperature=some.sampled_from([0.1, 0.5, 0.7, 1.0, 1.3, 2.0]),
    top_k=some.sampled_from([0, 1, 2, 5, 40, 1000]),
    top_p=some.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 1.0]),
    min_p=some.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
)
ROWS = some.lists(some.integers(-400, 400), min_size=1, max_size=80)
"""Logits times 16, so that some are equal."""


def text(written):
    return [each.token for each in written if each is not None]


@given(row=ROWS, cuts=CUTS, number=some.floats(0, 1, exclude_max=True))
def test_kept_tokens_and_their_chances_are_those_of_transformers_and_of_a_loop(row, cuts, number):
    process = pytest.importorskip("transformers").generation.logits_process
    given_logits = torch.tensor(row).double() / 16
    wanted = process.TemperatureLogitsWarper(cuts.temperature)(None, given_logits[None])
    if cuts.top_k:
        wanted = process.TopKLogitsWarper(cuts.top_k)(None, wanted)
    if cuts.top_p < 1:
        wanted = process.TopPLogitsWarper(cuts.top_p)(None, wanted)
    wanted = process.MinPLogitsWarper(cuts.min_p)(None, wanted).softmax(-1)[0]
    found = offered(given_logits, cuts)
    kept = wanted.isfinite() & (wanted > 0)
    # Of equal logits at the edge of top-p as many are kept, which of them is not said there.
    size = sorted(row, reverse=True)
    assert sorted((row[each] for each in found.ids), reverse=True) == size[: len(found.ids)]
    assert len(found.ids) == kept.sum() + (found.chances == 0).sum()
    torch.testing.assert_close(found.chances.sort()[0][-kept.sum() :], wanted[kept].sort()[0])
    place, reached = 0, float(found.chances[0])
    while number >= reached and place + 1 < len(found.ids):
        place += 1
        reached += float(found.chances[place])
    assert found.drawn(number) == place or abs(number - reached) < 1e-12


def test_a_seed_s_numbers_are_python_s_and_an_interval_is_closed_below():
    assert [number_drawn(7, p) for p in range(2)] == [0.32383276483316237, 0.15084917392450192]
    halves = Offered(torch.tensor([4, 2]), torch.tensor([0.5, 0.5]).double())
    assert [halves.drawn(each) for each in (0, 0.5 - 2**-53, 0.5, 1 - 2**-53)] == [0, 0, 1, 1]


DIFFER = ("gpt2", "gpt_neox", "gemma2 tight caps", "gemma3 pattern", "llama dynamic", "phi3 longer")
"""In what a cache has to know: learned places, turned ones, windows, rates by the length."""


@pytest.mark.parametrize("name", marked(SPEAKING, DIFFER, pytest.mark.slow("0.5 s: the others")))
def test_a_family_writes_what_transformers_writes(tmp_path, name):
    reference, model = make(tmp_path, name), open_model(tmp_path)
    model.ends = frozenset()
    look = {"max_new_tokens": N, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    written = (reference.generate(torch.tensor([IDS]), num_beams=n, **look) for n in (1, 3))
    wanted, most_likely = (tuple(each[0, len(IDS) :].tolist()) for each in written)
    assert text(write(model, IDS, N)) == text(write(model, IDS, N, has_cache=False)) == [*wanted]
    *_, (best, *others) = beam(model, IDS, N, 3)

    def log_chance(ids):
        """By each beginning, since some models turn a longer text otherwise."""
        texts = [(*IDS, *ids[:at]) for at in range(N)]
        told = [logits(run(model, each), [-1])[0].double().log_softmax(-1) for each in texts]
        return sum(float(row[token]) for row, token in zip(told, ids, strict=True))

    assert best.log_chance == pytest.approx(log_chance(best.ids), abs=1e-4)
    assert best.log_chance >= others[0].log_chance >= others[1].log_chance
    if name == "gemma2 tight caps":  # its largest logits are all at the cap, and nearly equal
        assert best.log_chance == pytest.approx(log_chance(most_likely), abs=1e-4)
    else:
        assert best.ids == most_likely


@pytest.mark.parametrize(("name", "files"), [
    ("llama", {"config.json": {}, "generation_config.json": {"eos_token_id": ...}}),
    ("gpt2", {"config.json": {"eos_token_id": "END"}, "generation_config.json": None}),
    ("qwen2", {"config.json": {}, "generation_config.json": {"eos_token_id": "ENDS"}}),
])  # fmt: skip
def test_a_text_ends_where_the_files_say_as_in_transformers(tmp_path, name, files):
    """The end is what the model itself writes third; where no file names one, its class does."""
    reference = make(tmp_path, name)
    third = text(write(open_model(tmp_path), IDS, N))[2]
    for file, says in files.items():
        for key, value in (says or {}).items():
            ends = {"END": third, "ENDS": [third, 60]}.get(value, value)
            config(file, **{key: ends})(tmp_path)
        if says is None:
            (tmp_path / file).unlink()
    model = open_model(tmp_path)
    if "END" not in str(files):
        assert model.ends == {reference.config.eos_token_id}
        return
    reference = type(reference).from_pretrained(tmp_path, attn_implementation="eager").eval()
    wanted, likely = (
        reference.generate(
            torch.tensor([IDS]), max_new_tokens=N, do_sample=False, pad_token_id=0, num_beams=beams,
            length_penalty=0.0, early_stopping="never" if beams > 1 else False,
        )[0, len(IDS) :].tolist()
        for beams in (1, 3)
    )  # fmt: skip
    assert text(write(model, IDS, N)) == wanted
    assert wanted[-1] == third
    *_, (best, *_) = beam(model, IDS, N, 3)
    while likely[-1] == 0 != best.ids[-1]:
        likely.pop()  # padding
    assert [*best.ids] == likely


def test_a_gguf_file_s_ends_are_those_that_it_names_and_the_usual_ones():
    fields = {"eos_token_id": 2, "eot_token_id": 1, "eom_token_id": "x"}
    fields |= {"tokens": ["a", "<|end|>", "c", "<|im_end|>"], "token_type": [1, 1, 1, 3]}
    said = {f"tokenizer.ggml.{name}": value for name, value in fields.items()}
    assert (ends_in(said), ends_in({})) == ({1, 2, 3}, frozenset())


def test_the_tiny_language_writes_one_text_for_a_seed_with_a_cache_and_without():
    model = open_model(tiny.TINY)
    ids = model.tokenizer.encode("the tired cat sees the dog").ids
    choose = drawing(Cuts(1.5), seed=5)
    at_once = [each for each in write(model, ids, 6, choose) if each is not None]
    one_by_one = [*ids]
    for place in range(6):
        one_by_one += text(write(model, one_by_one, 1, drawing(Cuts(1.5), 5, place)))
    assert [*ids, *text(at_once)] == one_by_one
    assert text(write(model, ids, 6, choose, has_cache=False)) == text(at_once)
    for place, each in enumerate(at_once):
        before = (*ids, *text(at_once)[:place])
        chances = logits(run(model, before), [-1])[0].softmax(-1)
        assert each.chance == pytest.approx(float(chances[each.token]), abs=1e-6)
        assert each.others[0][0] == greedy(chances)
        assert each.others[0][1] == pytest.approx(float(chances.max()), abs=1e-6)


@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt2", "qwen3 window"])
def test_the_products_are_those_that_torch_counts(tmp_path, name):
    make(tmp_path, name)
    model, cache = open_model(tmp_path), Cache()
    for new in (IDS, (8,)):
        with FlopCounterMode(display=False) as counted:
            for _ in read_on(model, [new], cache):
                pass
        assert 2 * products(model.settings, len(new), len(cache)) == counted.get_total_flops()


def spoilt(model):
    """The same, but that its weights are no numbers."""
    read = model.source.matrix
    model.source.matrix = lambda *named: read(*named) * math.nan
    return model


@pytest.mark.parametrize(("call", "words"), [
    (lambda _: Cuts(temperature=0.0), "the temperature is 0.0, but must be above 0"),
    (lambda _: Cuts(temperature=math.nan), "the temperature is nan"),
    (lambda _: Cuts(top_k=-1), "top_k is -1"),
    (lambda _: Cuts(top_p=1.1), "top_p is 1.1, but must be from 0 to 1"),
    (lambda _: Cuts(min_p=math.nan), "min_p is nan"),
    (lambda _: offered(torch.tensor([0.0, math.inf]), Cuts()), "finite"),
    (lambda _: offered(torch.tensor([0.0]), Cuts()).drawn(1.0), "drawn is 1.0"),
    (lambda model: [*write(spoilt(model), (3,), 1)], "chosen by finite logits, and these are not"),
    (lambda model: [*beam(spoilt(model), (3,), 1)], "chosen by finite logits, and these are not"),
    (lambda model: [*write(model, (3,), 0)], "0 tokens are to be written"),
    (lambda model: [*write(model, (3, -1), 1)], "there is no token -1"),
    (lambda model: [*write(model, (1,) * 20, 500)], "500 more after 20 tokens do not fit"),
    (lambda model: [*beam(model, (1,) * 20, 500)], "500 more after 20 tokens do not fit"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call(open_model(tiny.TINY))
