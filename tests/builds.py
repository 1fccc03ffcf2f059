"""The computations of all lessons from the values of all controls, with what their pages add."""

from attention_core import SimplifiedOptions, attend, embed, expand_query
from attention_core.experiments.variance import few_trials
from attention_core.mechanism import multi_head
from attention_core.mechanism.masking import attend_masked, change_token
from attention_core.mechanism.token_axis import attend_on_tokens, decode
from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_ui.controls.shared import heads_recipe_of, inputs_of, layer_recipe_of, projections_of
from attention_ui.lessons.causal_mask.lesson import mask_of
from attention_ui.lessons.kept_small import lesson as of_kept
from attention_ui.lessons.transformer_block import lesson as of_block
from attention_ui.lessons.whole_layer import lesson as of_layer
from attention_ui.lessons.without_softmax import lesson as of_memory


def simplified(values, **stretch):
    return attend(
        embed(inputs_of(values)), SimplifiedOptions(values.similarity, values.divide, **stretch)
    )


def trainable(values):
    trace = attend_trainable(embed(inputs_of(values)), projections_of(values))
    return add_other_ways(expand_token(trace, values.token))


def masked(values):
    trace = attend_masked(embed(inputs_of(values)), mask_of(values), values.scale)
    return change_token(trace, values.changed_token, values.change_by)


def heads(values):
    trace = multi_head.attend_heads(embed(inputs_of(values)), heads_recipe_of(values))
    multi_head.add_head_parts(multi_head.add_big_projection(multi_head.add_batched(trace)))
    return multi_head.expand_word(multi_head.switch_off(trace, values.head_off), values.token)


def layer(values):
    return multi_head.attend_heads(embed(inputs_of(values)), layer_recipe_of(values))


BUILDS = {
    "simplified": lambda v: expand_query(simplified(v), v.query),
    "stretched": lambda v: simplified(v, stretched=v.stretch, factor=v.factor),
    "trainable": trainable,
    "masked": masked,
    "heads": heads,
    "layer": lambda v: of_layer.with_dropout(layer(v), v, v.layer_dropout),
    "on_tokens": lambda v: attend_on_tokens(embed(inputs_of(v))),
    "decoder": lambda v: decode(embed(inputs_of(v)), n_heads=v.n_heads),
    "block": of_block.trace_of,
    "memory": lambda v: of_memory.by_rule(of_memory.at_once(v), v, "both"),
    "kept": of_kept.trace_of,
    "few": lambda v: few_trials(v.draw_seed, d=min(v.vector_width, 64)),
}
