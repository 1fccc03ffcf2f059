"""The computations of all lessons from the values of all controls, with what their pages add."""

from attention_core import SimplifiedOptions, attend, embed, expand_query
from attention_core.experiments.variance import few_trials
from attention_core.mechanism.masking import attend_masked, change_token, drop_weights
from attention_core.mechanism.multi_head import (
    add_batched,
    add_big_projection,
    add_head_parts,
    attend_heads,
    expand_word,
    switch_off,
)
from attention_core.mechanism.token_axis import attend_on_tokens, decode
from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_ui.controls.shared import heads_recipe_of, inputs_of, layer_recipe_of, projections_of
from attention_ui.lessons.causal_mask.lesson import mask_of
from attention_ui.lessons.transformer_block import lesson as of_block
from attention_ui.lessons.without_softmax import lesson as of_memory


def simplified(values):
    options = SimplifiedOptions(values.similarity, values.divide)
    return expand_query(attend(embed(inputs_of(values)), options), values.query)


def stretched(values):
    options = SimplifiedOptions(
        values.similarity, values.divide, stretched=values.stretch, factor=values.factor
    )
    return attend(embed(inputs_of(values)), options)


def trainable(values):
    trace = attend_trainable(embed(inputs_of(values)), projections_of(values))
    return add_other_ways(expand_token(trace, values.token))


def masked(values):
    trace = attend_masked(embed(inputs_of(values)), mask_of(values), values.scale)
    change_token(trace, values.changed_token, values.change_by)
    return drop_weights(trace, values.dropout, values.drop_seed)


def heads(values):
    trace = attend_heads(embed(inputs_of(values)), heads_recipe_of(values))
    add_head_parts(add_big_projection(add_batched(trace)))
    return expand_word(switch_off(trace, values.head_off), values.token)


def layer(values):
    return attend_heads(embed(inputs_of(values)), layer_recipe_of(values))


def on_tokens(values):
    return attend_on_tokens(embed(inputs_of(values)))


def decoder(values):
    return decode(embed(inputs_of(values)), n_heads=values.n_heads)


def block(values):
    return of_block.trace_of(values)


def memory(values):
    return of_memory.by_rule(of_memory.at_once(values), values, "both")


def few(values):
    return few_trials(values.draw_seed, d=min(values.vector_width, 64))


BUILDS = (simplified, stretched, trainable, masked, heads, layer, on_tokens, decoder, block)
BUILDS += (memory, few)
