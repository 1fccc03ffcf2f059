"""The check of a learner's own code, on `shapes_of_code.toml`: wrong ones refused and named."""

import ast
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_core.export.check_file import NAME, PARTS, check_file
from attention_core.lights.light import OF_GRADIENTS, TITLES
from attention_core.lights.measures import LARGE
from attention_core.lights.own_code.checking import lights_of_code, looked_at, subject_of
from attention_core.lights.own_code.command import main
from attention_core.lights.own_code.naming import MISTAKES_OF_CODE
from attention_core.lights.own_code.report import LIKELY
from attention_core.lights.own_code.subjects import IN_BATCH, LOW, Open
from fresh import BARE
from pieces import PIECES, SHAPES, WAYS, made, wrong_pieces, wrong_ways
from sampling import each_once
from serving import HANG

MANY = "60 s in all: every piece of code"
"""Why a piece is slow; so many run each day that each kind is among them."""
SIGNS = (
    "class",
    "lambda",
    "mask",
    "causal",
    "head",
    "context",
    "cache",
    "past",
    "start_pos",
    "pad|len",
    "rot",
    "norm",
)


def kinds(name):
    """What a right piece shows, by its code: what it is, and what it is given."""
    causal, code = PIECES[name]
    return causal, *(bool(re.search(sign, code)) for sign in SIGNS)


def ways_of(name):
    """What a right way is said to be, and whether it is one of arrays, or of two texts."""
    right = WAYS["right"][name]
    return *right.get("says", [""])[:1], name.startswith("np"), name.startswith("cross")


@pytest.mark.parametrize("name", each_once(PIECES, MANY, parts=kinds))
def test_right_code_is_green_in_every_shape(name):
    causal, code = PIECES[name]
    report = looked_at(made(code), causal)
    assert report.is_right, report.text()
    grey = {light.name for light in report.lights if light.holds is None}
    assert "rows_sum_to_1" not in grey
    assert ({"no_leak", "hidden_is_zero"} <= grey) is not causal


@pytest.mark.parametrize("name", each_once(WAYS["right"], MANY, parts=ways_of))
def test_every_right_way_passes_and_is_said_where_it_is_one_of_several(name):
    right = WAYS["right"][name]
    report = looked_at(made(right["code"]), right.get("causal", False))
    assert report.is_right, report.text()
    assert bool(report.ways) == bool(right.get("says")), report.text()
    for words in right.get("says", ()):
        assert words in report.text()


@pytest.mark.parametrize(
    ("base", "causal", "code", "light"),
    each_once(wrong_ways(), MANY, parts=lambda case: (case[0], case[3])),
)
def test_what_only_looks_like_a_right_way_stays_red(base, causal, code, light):
    report = looked_at(made(code), causal)
    assert report.first_wrong, (base, report.text())
    assert light in ("-", report.first_wrong.name), report.text()


@pytest.mark.parametrize(
    ("base", "code", "light", "mistake"),
    each_once(wrong_pieces(), MANY, parts=lambda case: (case[0], *case[2:])),
)
def test_wrong_code_is_refused_and_named_or_left_to_its_evidence(base, code, light, mistake):
    report = looked_at(made(code), PIECES[base][0])
    assert report.first_wrong, report.text()
    assert report.first_wrong.name in (light, report.first_wrong.name if light == "-" else light)
    assert report.likely == (() if mistake == "-" else (mistake,)), report.text()
    for name in report.likely:
        assert LIKELY[name][0] in report.text()


def test_every_mistake_is_told_of_some_code():
    told = {mistake for *_, mistake in wrong_pieces()} - {"-"}
    assert told | {"few_digits", "not_called"} == LIKELY.keys()
    assert MISTAKES_OF_CODE.keys() <= LIKELY.keys()


def test_the_lights_of_code_are_those_that_are_listed():
    subject, _ = subject_of(made(PIECES["matrices"][1]), False, None, None)
    names = ["runs", *(light.name for light in lights_of_code(subject))]
    assert names == [name for name in TITLES if name not in (*OF_GRADIENTS, "ids")]


def test_every_light_of_code_can_go_out():
    red = {light for _, _, light, _ in wrong_pieces()} | {light for *_, light in wrong_ways()}
    places = "x = x + torch.arange(len(x))[:, None] / 10; queries, keys"
    report = looked_at(made(PIECES["matrices"][1].replace("queries, keys", places, 1)))
    red |= {light.name for light in report.lights if light.holds is False}  # not first: order_free
    assert {name for name in TITLES if name not in (*OF_GRADIENTS, "ids")} <= red


CONVENTIONS_SAID = {
    "capitals_causal": "Mask: True may look.",
    "true_hides": "Mask: True hides.",
    "mask_is_added": "Mask: added to the scores (0 may look, −∞ hides).",
    "padded": "Mask: True hides.",
    "lengths": "Mask: how many tokens of each text are real.",
    "matrices_causal": "",
}


@pytest.mark.parametrize("name", CONVENTIONS_SAID)
def test_the_convention_of_a_mask_is_said_where_one_is_given(name):
    causal, code = PIECES[name]
    report = looked_at(made(code), causal)
    assert report.mask == CONVENTIONS_SAID[name]
    assert report.text().count("Mask: ") == bool(report.mask)


def test_a_mask_that_hides_nothing_in_any_convention_is_not_said_to_be_understood():
    _, code = PIECES["capitals_causal"]
    report = looked_at(
        made(code.replace("scores = scores.masked_fill", "scores.masked_fill")), True
    )
    assert report.mask.startswith("Mask: none of the usual conventions hides later tokens")


def test_a_mask_of_another_text_and_a_layer_as_it_is_in_torch_are_told_apart():
    for layer in (
        nn.MultiheadAttention(12, 3, batch_first=True),
        nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 8, batch_first=True), 2),
    ):
        found = {light.name: light for light in looked_at(layer).lights}
        assert found["padding"].holds, found["padding"]
        assert found["learns"].holds, found["learns"]


def attention(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    return (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1) @ v


class Own(nn.Module):
    """A module that insists on a batch, and has any attention in its middle."""

    def __init__(self, attend):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(5, 4, bias=False) for _ in range(3))
        self.attend = attend

    def forward(self, x):
        (vectors,) = x
        return self.attend(vectors, *(e.weight.T for e in (self.W_q, self.W_k, self.W_v)))[None]


def test_code_that_stops_on_a_sentence_says_its_own_error():
    """One token at a time it runs, and where there are as many tokens as heads."""
    code = PIECES["three_in_one"][1].replace(
        "e.view(B, T, self.n_head, ", "e.view(B, self.n_head, T, "
    )
    report = looked_at(made(code.replace(".transpose(1, 2)", "")))
    assert "view size is not compatible" in report.lights[0].evidence, report.text()


def test_the_matrices_of_a_module_are_seen_in_float64_and_its_lazy_layers_stay_lazy():
    report = looked_at(made(PIECES["three_in_one"][1]).double(), True)
    assert {light.name: light.holds for light in report.lights}["formula"]
    layer = made(PIECES["additive"][1])
    looked_at(layer)
    assert layer.W_q.has_uninitialized_params()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_few_digits_are_named(kind):
    report = looked_at(lambda *given: attention(*(each.to(kind) for each in given)).float())
    assert report.likely == ("few_digits",)


def test_what_cannot_be_called_is_told_how_to_be_wrapped():
    report = looked_at(lambda a, b, c, d, e, f: (a, b, c, d, e, f))
    assert "it takes (a, b, c, d, e, f)" in report.first_wrong.evidence
    assert report.text().count("\n      ") == 3
    assert "def attention(x, W_q, W_k, W_v)" in report.text()
    assert "NoneType, not a tensor" in looked_at(lambda *_: None).text()
    weights_alone = looked_at(lambda x, *W: attention(x, *W)[..., :7])
    assert "7 × 7, where 7 × 11 belongs" in weights_alone.text()


def test_heads_are_found_or_said_and_their_ways_recognised():
    for name, said in (("window", "up to 3 away"), ("alibi", "fall by 0.5, 0.5, 0.5")):
        one = made(PIECES[name][1])

        def in_heads(q, k, v, one=one):
            heads = [e.unflatten(-1, (3, -1)).unbind(1) for e in (q, k, v)]
            return torch.cat([one(*each) for each in zip(*heads, strict=True)], dim=-1)

        report = looked_at(in_heads, True, n_heads=3)
        assert report.is_right, report.text()
        assert said in report.text()
    assert "3 heads" in looked_at(made(PIECES["three_heads_inside"][1])).text()


def test_a_module_is_left_as_it_was_and_said_what_it_does_not_show():
    for layer in (
        nn.MultiheadAttention(12, 3, dropout=0.5),
        nn.TransformerEncoderLayer(12, 3, 8, batch_first=True),
        nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 8), 2, enable_nested_tensor=False),
    ):
        next(layer.children()).eval()
        modes = [each.training for each in layer.modules()]
        before = {name: each.clone() for name, each in layer.state_dict().items()}
        state = torch.random.get_rng_state()
        for causal in (False, True):
            assert looked_at(layer, causal).is_right
        assert [each.training for each in layer.modules()] == modes
        assert all(torch.equal(each, before[n]) for n, each in layer.state_dict().items())
        assert torch.equal(torch.random.get_rng_state(), state)
    assert "batch_first=True?" in looked_at(nn.MultiheadAttention(6, 2)).text()
    few = looked_at(nn.Linear(3, 3).bfloat16()).text()
    assert "bfloat16 has too few digits" in few
    assert "print each tensor" not in few
    assert "add d_in" in looked_at(nn.LayerNorm(3)).text()
    assert "it stopped with RuntimeError" in looked_at(nn.Embedding(5, 3)).text()
    assert "it stops at 7" in looked_at(made(PIECES["book_causal"][1]), True).text()
    with pytest.raises(TypeError, match="Own is a class: make a module first"):
        looked_at(Own)


# --- what a learner's code may do to the check ----------------------------------------------------
class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no words")


def raising(error):
    def function(*_):
        raise error

    return function


def ends(end):
    return lambda x, W_q, W_k, W_v: end(attention(x, W_q, W_k, W_v))


def zeroing(x, W_q, W_k, W_v):
    output = attention(x, W_q, W_k, W_v)
    for each in (x, W_q, W_k, W_v):
        each.zero_()
    return output


BUFFER = torch.zeros(7, 11, dtype=torch.float64)


def of_one_buffer(x, W_q, W_k, W_v):
    """It gives the same tensor each time, with other numbers."""
    if len(x) != len(BUFFER):
        return attention(x, W_q, W_k, W_v)
    return BUFFER.copy_(attention(x, W_q, W_k, W_v) * torch.rand(1))


@pytest.mark.parametrize(("function", "light", "said"), [
    (raising(SystemExit(0)), "runs", "stopped with SystemExit: 0"),
    (raising(GeneratorExit()), "runs", "stopped with GeneratorExit"),
    (raising(Unreadable()), "runs", "Unreadable: (its message cannot be read)"),
    (raising(ValueError("\x1b[31mred\u202e")), "runs", r"ValueError: \x1b[31mred\u202e"),
    (raising(ValueError("long" * 999)), "runs", "longlong…"),
    (raising(ValueError("\n" * 10**8)), "runs", "ValueError"),
    (zeroing, "repeatable", "It writes into the tensors"),
    (of_one_buffer, "repeatable", "differs by up to"),
    (ends(lambda c: c + 1j), "runs", "complex64"),
    (ends(lambda c: c.to("meta")), "runs", "no numbers"),
    (ends(lambda c: c.to_sparse()), "runs", "to_dense()"),
    (ends(lambda c: torch.nested.nested_tensor([c])), "runs", "nested"),
    (ends(lambda c: c.long()), "runs", "int64"),
    (ends(lambda c: c.bfloat16()), "runs", "bfloat16 has too few digits"),
])  # fmt: skip
def test_no_code_passes_by_what_it_does_to_the_check(function, light, said):
    # The buffer has the width of a function's values.
    for attends in (function, *([] if function is of_one_buffer else [Own(function)])):
        report = looked_at(attends)
        assert report.first_wrong.name == light, report.text()
        assert said in report.text()
        assert report.text().replace("\n", "").isprintable()


def test_texts_that_mix_only_beside_each_other_are_seen():
    class Beside(nn.MultiheadAttention):
        def forward(self, x):
            made = super().forward(x, x, x, need_weights=False)[0]
            return made if len(x) == 1 else made.flip(0)

    report = looked_at(Beside(12, 3, batch_first=True))
    found = {light.name: light.holds for light in report.lights}
    assert found["texts_apart"] is False, report.text()


def test_counts_that_cannot_be_are_refused_in_words():
    for counts in ({"n_heads": 0}, {"n_heads": 10**6}, {"n_heads": "3"}, {"d_in": -1}):
        with pytest.raises(ValueError, match="write a number from 1 to"):
            looked_at(attention, **counts)


@pytest.mark.parametrize(("what", "text", "said"), [
    ("passwd:f", "root", "ends in .py"),
    ("own.py:f", "import sys\nsys.exit()", "stopped with SystemExit at line 2"),
    ("own.py:f", "f = (", "stopped with SyntaxError"),
    ("own.py:f", "raise ValueError('\x1b[31m')", r"ValueError: \x1b[31m at line 1"),
    ("own.py:f\x1b[31m", "", r"f\x1b[31m: there is no function of that name"),
    ("own.py:f", "f = 5", "no function of that name, and no module"),
    ("own.py:f", "class f: pass", "f is a class: make a module first"),
    ("none.py:f", "", "there is no file"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_in_words(tmp_path, capsys, what, text, said):
    path = tmp_path / what.partition(":")[0]
    if text or "own" in what:
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", list(sys.path))
        patched.setattr(sys, "modules", dict(sys.modules))
        with pytest.raises(SystemExit) as stopped:
            main([f"{tmp_path}/{what}"])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert "\x1b" not in told


@pytest.mark.parametrize(("scale", "status"), [(" / keys.shape[-1] ** 0.5", 0), ("", 1)])
def test_the_command_s_status_says_whether_a_light_is_red(tmp_path, monkeypatch, scale, status):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "own.py").write_text(
        "def attention(queries, keys, values):\n"
        f"    return (queries @ keys.T{scale}).softmax(-1) @ values\n"
    )
    assert main([f"{tmp_path}/own.py:attention"]) == status


# --- the file itself ------------------------------------------------------------------------------
def test_no_name_of_the_file_is_given_twice():
    names = Counter(
        getattr(target, "id", getattr(target, "name", None))
        for node in ast.parse(check_file()).body
        for target in getattr(node, "targets", [node])
        if not isinstance(node, ast.AugAssign)
    )
    del names[None]
    assert len(names) > 100
    assert [name for name, n_times in names.items() if n_times > 1] == []


def test_the_file_has_every_module_of_the_lights_after_those_it_needs():
    place = {part.__name__: at for at, part in enumerate(PARTS)}
    for part in PARTS:
        for value in vars(part).values():
            home = getattr(value, "__module__", None)
            if home in place:
                assert place[home] <= place[part.__name__], (part.__name__, value)


LEARNERS = """
import os, signal, sys, time
import torch
import torch.nn as nn

print("noise" * 10**5)
sys.stdout = None

def right(Q, K, V, mask=None):
    print("noise" * 10**5)
    os.write(1, b"noise" * 10**4)
    scores = Q @ K.mT / K.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(-1) @ V

def wrong(x, W_q, W_k, W_v):
    return ((x @ W_q) @ (x @ W_k).T).softmax(-1) @ (x @ W_v)

layer = nn.MultiheadAttention(12, 3, batch_first=True)

def forks(q, k, v):
    os.fork()
    return right(q, k, v)

def loops(q, k, v):
    if len(q) == 5:
        os.fork()
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                pass
    return right(q, k, v)

def ends(q, k, v):
    os._exit(0)

def killed(q, k, v):
    os.kill(os.getpid(), 9)

def interrupted(q, k, v):
    raise KeyboardInterrupt
"""
COMMANDS = [  # what is asked for, the status, what is said, and in how many lines
    ("right --causal", 0, "All 18 lights that can be looked at are green", 24),
    ("wrong", 1, "q.k is divided by 1 at width 5 (root 5 = 2.236)", 24),
    ("layer", 0, "divided by 2 at width 4", 24),
    ("forks", 0, "All 16 lights", 23),
    ("loops --seconds 5", 2, "Stopped after 5 seconds without a verdict", 0),
    ("ends", 2, "nothing was checked", 1),
    ("killed", 2, "nothing was checked", 1),
    ("interrupted", 1, "it stopped with KeyboardInterrupt", 3),
    ("none", 2, "mine.py:none: there is no function of that name", 0),
    ("right --n-heads 0", 2, "write a number from 1 to 64", 0),
]


@pytest.fixture(scope="module")
def file_alone(tmp_path_factory):
    """The command of the file that people take with them, where the project is not."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / NAME).write_text(check_file(), encoding="utf-8")
    (folder / "mine.py").write_text(LEARNERS, encoding="utf-8")
    environment = BARE | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "ascii"}

    def start(asked):
        command = [sys.executable, NAME, *f"mine.py:{asked}".split()]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=folder, env=environment, **pipes)

    return start


@pytest.mark.slow("3 s each: in processes of their own")
@pytest.mark.parametrize(("asked", "status", "said", "n_lines"), COMMANDS)
def test_the_file_alone_checks_what_a_learner_has(file_alone, asked, status, said, n_lines):
    process = file_alone(asked)
    told, _ = process.communicate(timeout=HANG)
    assert process.returncode == status, told
    assert said in told
    assert told.isascii()
    assert "noise" not in told
    if n_lines:
        assert len(told.splitlines()) == n_lines, told


@pytest.mark.slow("10 s: waits for a check that never ends")
@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
@pytest.mark.parametrize(("by", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_check_ends_with_who_waits_for_it_and_each_light_comes_at_once(file_alone, by, status):
    process = file_alone("loops --seconds 86400")
    assert process.stdout.readline().startswith("ok It runs")
    process.send_signal(by)
    # The pipe is at its end when all have ended that hold it: the child, and what it forked.
    process.communicate(timeout=HANG)
    assert process.returncode == status


class Short(Own):
    """Its sentences have at most so many tokens."""

    def __init__(self, longest, last):
        super().__init__(attention)
        self.longest, self.last = longest, last

    def forward(self, x):
        if x.shape[1] > self.longest:
            raise IndexError("too long")
        return self.last(super().forward(x))


@pytest.mark.parametrize("longest", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("last", [nn.Identity(), nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 4))])
def test_a_module_is_looked_at_by_the_longest_sentence_that_it_takes(longest, last):
    subject, _ = subject_of(Short(longest, last), False, None, None)
    assert isinstance(subject, Open) == isinstance(last, nn.Identity)
    assert subject.n_tokens == min(longest, 7)


HIDDEN = 'scores.masked_fill(mask == 0, float("-inf"))'
AS_WRITTEN = {
    "zero_in_place_of_infinity": (
        HIDDEN, "scores.masked_fill(mask == 0, {})", (0, -1, -5.0, -10)),
    "infinity_after_softmax": (
        f"{HIDDEN}\n    return torch.softmax(scores, dim=1)",
        "torch.softmax(scores, dim=1)\n    return scores.masked_fill(mask == 0, {})",
        (-1e4, -1e9, -1e20, "-torch.inf")),
    "mask_late": ("torch.ones(len(q), len(q))", "torch.ones(len(q), len(q)), {}", (1, 2, 3)),
    "mask_opposite": (HIDDEN, "scores.masked_fill(mask == 1, {})", (-1e9, "-torch.inf")),
    "mask_transposed": (HIDDEN, "scores.masked_fill(mask.T == 0, {})", (-1e9, "-torch.inf")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("mistake", "number"), [(name, each) for name, (*_, all) in AS_WRITTEN.items() for each in all]
)
def test_a_mistake_is_named_whichever_of_the_usual_numbers_is_written(mistake, number):
    old, new, _ = AS_WRITTEN[mistake]
    code = PIECES["matrices_causal"][1]
    assert old in code
    report = looked_at(made(code.replace(old, new.format(number))), True)
    assert report.likely == (mistake,), report.text()


@pytest.mark.parametrize("base", [1e4, 5e5, 1e6, 1e5, 100.0])
def test_rotary_positions_of_each_usual_base_are_recognised_right_and_mixed(base):
    code = PIECES["rotary_function"][1]
    assert "10000" in code
    code = code.replace("10000", str(base))
    assert looked_at(made(code), True).is_right
    old, new, *_, mistake = SHAPES["wrong"]["rotary_function"][0]
    assert looked_at(made(code.replace(old, new)), True).likely == (mistake,)


def through_arrays(x, W_q, W_k, W_v):
    return torch.from_numpy(attention(x, W_q, W_k, W_v).detach().numpy())


@pytest.mark.parametrize(("attend", "function", "module"), [
    (attention, True, True),
    (lambda x, *W: attention(x.round(decimals=1), *W), True, True),
    (lambda x, q, k, v: attention(x, q.detach(), k, v), False, False),
    (lambda x, q, k, v: attention(x, q.data, k, v), False, False),
    (torch.no_grad()(attention), False, False),
    (lambda x, q, k, v: attention(x, q.round(decimals=2), k, v), False, False),
    (through_arrays, None, False),
])  # fmt: skip
def test_what_stops_gradients_is_red_and_what_only_is_no_torch_is_grey(attend, function, module):
    for code, wanted in ((attend, function), (Own(attend), module)):
        found = {light.name: light.holds for light in looked_at(code).lights}
        assert found["learns"] is wanted


class Alike(nn.Module):
    """Cuts vectors into heads, and uses the same three matrices, stored upright, on each."""

    def __init__(self, n_heads=3, d_in=4, d_out=5):
        super().__init__()
        torch.manual_seed(0)
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.randn(d_out, d_in)) for _ in range(3))

    def forward(self, x):
        parts = x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        q, k, v = (F.linear(parts, each) for each in (self.W_q, self.W_k, self.W_v))
        return ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v).transpose(1, 2).flatten(2)


def test_heads_that_share_their_matrices_are_opened_whichever_way_they_are_stored():
    subject, _ = subject_of(Alike(), False, None, 12)
    assert subject.inside_name == "each head"
    assert subject.inside.sizes[:3]


def test_what_is_wrong_in_a_batch_alone_is_said_of_a_batch():
    code = """
def it(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    return (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1) @ v"""
    assert looked_at(made(code)).is_right
    report = looked_at(made(code.replace(".softmax(-1)", ".softmax(1)")))
    told = {light.name: light.evidence for light in report.lights if light.holds is False}
    assert {*told} == {"rows_sum_to_1", "texts_apart"}
    assert all(IN_BATCH in evidence for evidence in told.values())


@pytest.mark.parametrize("longest", [2, 3, 7])
def test_a_leak_is_seen_in_a_sentence_of_any_length(longest):
    """Of two tokens, one key is hidden, which is like no other."""
    report = looked_at(Short(longest, nn.Identity()), True)
    red = {light.name for light in report.lights if light.holds is False}
    assert {"hidden_is_zero", "no_leak"} <= red


class Asked(nn.Module):
    """Gives weights where it is asked for them, and something done to its output."""

    def __init__(self, after):
        super().__init__()
        self.attend, self.after = nn.MultiheadAttention(12, 3, batch_first=True), after

    def forward(self, x, need_weights=True):
        output, weights = self.attend(x, x, x, need_weights=need_weights)
        return (self.after(output), weights) if need_weights else self.after(output)


@pytest.mark.parametrize(("after", "repeatable"), [
    (lambda output: output, True),
    (lambda output: output + torch.rand_like(output), False),
])  # fmt: skip
def test_with_and_without_weights_are_not_compared_where_nothing_can_be_told(after, repeatable):
    report = looked_at(Asked(after))
    assert {light.name: light.holds for light in report.lights}["repeatable"] is repeatable
    assert "Called with" not in report.text()


CAPPED = """
def it(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return ({cap} * (scores / {cap}).tanh()).softmax(-1) @ v"""


@pytest.mark.parametrize("cap", [1.5, 3, 8, 20, 30, 50, 100])
def test_a_cap_of_any_usual_size_is_found(cap):
    report = looked_at(made(CAPPED.format(cap=cap)))
    assert report.is_right, report.text()
    assert f"{cap:g}" in report.text().partition("cap")[2][:80], report.text()


def test_a_cache_is_tried_token_by_token_and_after_a_prompt():
    module, lengths = made(PIECES["with_past"][1]), []
    forward = type(module).forward

    def noting(self, x, layer_past=None, use_cache=False):
        if use_cache:
            lengths.append((x.shape[1], 0 if layer_past is None else layer_past[0].shape[2]))
        return forward(self, x, layer_past, use_cache)

    type(module).forward = noting
    assert looked_at(module, True).is_right
    after_a_prompt = [(3, 0), *((1, at) for at in range(3, 7))]
    assert lengths[-12:] == [*((1, at) for at in range(7)), *after_a_prompt]


# --- what the code is given ----------------------------------------------------------------------
@pytest.mark.parametrize("causal", [False, True])
def test_the_scores_that_code_meets_are_as_large_as_is_said(causal):
    met = []

    def attention(q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        met.append(scores.abs().max().item())
        if causal:
            scores = scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf)
        return scores.softmax(-1) @ v

    looked_at(attention, causal)
    assert max(met) == pytest.approx(LARGE, rel=1e-4)
    ordinary = [each for each in met if each < 100]
    assert len(ordinary) > 20
    assert max(each for each in met if each < 20) < 8, "most are drawn around 0"
    lows = [each for each in met if 100 < each < LARGE / 2]
    assert bool(lows) == causal, "only where keys are hidden are all visible ones made unlikely"
    assert {round(each / LOW, 4) for each in lows} <= {0.5, 1.0}
