"""Stories of both notebooks on “Your journey”, and of how three put the scale in words."""

import math

import torch
from torch import Tensor, nn

from ...examples import EXAMPLES
from ...experiments.variance import RAW_MOMENTS, Trials, variance_theory
from ..printed import notebook
from .story import Figures, Story
from .tracing import DAVE, JOURNEY, JOURNEY_AGAIN, LIFE, WILD_CAT, apart, traced

TRIALS = 1_000
"""Of each printed variance."""


class _HoldsInputs(nn.Module):
    """The data kept in the module, as the notebook has them: no parameter and no buffer."""

    def __init__(self, inputs: Tensor) -> None:
        super().__init__()
        self.inputs = inputs
        self.W_query = nn.Parameter(torch.rand(inputs.shape[1], 2, generator=torch.Generator()))

    def forward(self) -> Tensor:
        return self.inputs @ self.W_query


def _wording() -> Figures:
    life, cat = traced(LIFE, "qkv"), EXAMPLES[WILD_CAT].projections
    key = life["keys"].value.shape[1]
    return {
        "width": EXAMPLES[DAVE].inputs.d_in,
        "root": math.sqrt(EXAMPLES[DAVE].inputs.d_in),
        "cat_out": cat.d_out,
        "cat_key": traced(WILD_CAT, "qkv")["keys"].value.shape[1],
        "d_in": EXAMPLES[LIFE].inputs.d_in,
        "d_k": key,
        "d_v": life["values"].value.shape[1],
        "divisor": math.sqrt(key),
    }


def _variance() -> Figures:
    printed = notebook(JOURNEY).results
    figures: Figures = {}
    for d in printed["var_ratio"].values:
        error = variance_theory(Trials(d)).standard_error(TRIALS)
        figures |= {
            f"printed_{d}": printed[f"var_before_{d}"].values,
            f"error_{d}": error,
            f"off_{d}": (printed[f"var_before_{d}"].values - d) / error,
        }
    one, uniform = Trials(1), Trials(1, distribution="uniform_0_1")
    theory = variance_theory(one)
    mean, square, *_ = RAW_MOMENTS["uniform_0_1"]
    scaled = traced(JOURNEY, "qkv")["scaled_scores"].value
    return figures | {
        "product": theory.variance,
        "kurtosis": theory.fourth_moment / theory.variance**2,
        "uniform": square - mean**2,
        "uniform_product": variance_theory(uniform).variance,
        "wide": variance_theory(Trials(100)).variance,
        "half": variance_theory(Trials(1, spread=0.5)).variance,
        "double": variance_theory(Trials(1, spread=2.0)).variance,
        "own": scaled.var(correction=0).item(),
    }


def _unseeded() -> Figures:
    printed = notebook(JOURNEY).results
    widths = printed["var_ratio"].values
    pairs = [[printed[f"var_{when}_{d}"].values for when in ("before", "after")] for d in widths]
    return {
        "printed": [before for before, _ in pairs],
        "relative": max(
            abs(after * d / before - 1) for d, (before, after) in zip(widths, pairs, strict=True)
        ),
        "n_printed": 2 * len(pairs),
        "code_says": widths[-1],
    }


def _inputs_held() -> Figures:
    module = _HoldsInputs(traced(JOURNEY, "tokenize")["embeddings"].value)
    kept = ", ".join(module.state_dict())
    refused = []
    for call in (lambda: module(module.inputs), module.double()):
        try:
            call()
        except (TypeError, RuntimeError) as error:
            refused.append(type(error).__name__)
    return {"kept": kept, "refused": refused[0], "refused_double": refused[1]}


def _not_reseeded() -> Figures:
    again, first = (traced(JOURNEY_AGAIN, lesson) for lesson in ("qkv_again", "qkv"))
    given = EXAMPLES[JOURNEY_AGAIN].drawn_again
    contexts = [each["context_vectors"].value for each in (again, first)]
    n_drawn = EXAMPLES[JOURNEY_AGAIN].projections.n_parameters(again.size("d_in"))
    return {
        "seed": given.seed,
        "wrong": contexts[0][0],
        "right": contexts[1][0],
        "apart": apart(*contexts),
        "draws": [given.skipped_draws + 1, given.skipped_draws + n_drawn],
    }


def _not_trainable() -> Figures:
    trace = traced(JOURNEY_AGAIN, "qkv_again")
    counts = []
    for learns in (False, True):
        matrices = [nn.Parameter(trace[f"W_{each}"].value, learns) for each in _ROLES]
        counts.append(sum(each.numel() for each in matrices if each.requires_grad))
    return {"wrong": counts[0], "right": counts[1]}


_ROLES = ("query", "key", "value")
STORIES = (
    Story(
        "scale_wording",
        "What is divided, and by what",
        LIFE,
        "The words of three notebooks are a little off: the weights are scaled (it is the scores), "
        "or divided by the embedding's width, {width} (the code takes its root, {root:.4f}), or by "
        "d_out, {cat_out}, which happens to be the keys' width, {cat_key}.",
        "Divide scores by √d_k, the width of a key. Here vectors are {d_in} wide, keys {d_k} and "
        "values {d_v}, so the divisor is √{d_k} = {divisor:.4f}.",
        _wording,
        "divided_by_d",
    ),
    Story(
        "variance_explanation",
        "Where the variance comes from",
        JOURNEY,
        "“Multiplying two random numbers increases the variance”: the product of two standard "
        "normal numbers has variance {product:.0f} again, and of two "
        "uniform ones (from 0 to 1) {uniform_product:.4f}, less than the {uniform:.4f} of each.",
        "It is the sum that grows: d products have variance d. The printed {printed_5:.4f} and "
        "{printed_100:.2f} lie {off_5:.2f} and {off_100:.2f} standard errors above it. All this "
        "holds for entries of variance 1; with a standard deviation of 2 the divided score has "
        "{double:.0f}, and the notebook's own scores have {own:.4f}.",
        _variance,
    ),
    Story(
        "unseeded_variance",
        "An experiment without a seed",
        JOURNEY,
        "The {n_printed} printed variances, {printed:.4f} and their divided ones, come from a "
        "generator without a seed, so nobody gets them again. A comment says 20 where the code "
        "has {code_says}.",
        "What can be checked is their ratio: before is d times after, to within {relative:.0e}.",
        _unseeded,
    ),
    Story(
        "inputs_in_module",
        "Data inside the module",
        JOURNEY,
        "The class keeps the sentence, so it takes no other one: called with a sentence it raises "
        "{refused}. What it saves is {kept} and no inputs, and after `double()` it raises "
        "{refused_double}, since the inputs stay as they were.",
        "`forward(x)` takes what it works on, and the module keeps what it learns.",
        _inputs_held,
    ),
    Story(
        "not_reseeded",
        "The same code, another answer",
        JOURNEY_AGAIN,
        "The class is made without setting seed {seed} again, so it takes draws {draws:| to } of "
        "the generator: the first row is {wrong:.4f|, }.",
        "With the seed set again it is {right:.4f|, }, as before the class; the rows differ by up "
        "to {apart:.4f}.",
        _not_reseeded,
    ),
    Story(
        "not_trainable",
        "A class that cannot learn",
        JOURNEY_AGAIN,
        "`requires_grad=False` made the printed tensors tidy, and went along into the class: "
        "{wrong} of its numbers can be trained.",
        "Leave it out of the class, and all {right} can.",
        _not_trainable,
    ),
)
