"""The computations of all lessons from whole settings, with everything that their pages add."""

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
from attention_ui.controls.control import understood
from attention_ui.lessons.transformer_block import lesson as of_block
from attention_ui.settings.link import to_query


def simplified(settings):
    options = SimplifiedOptions(settings.similarity, settings.divide)
    return expand_query(attend(embed(settings.inputs), options), settings.query)


def stretched(settings):
    options = SimplifiedOptions(
        settings.similarity, settings.divide, stretched=settings.stretch, factor=settings.factor
    )
    return attend(embed(settings.inputs), options)


def trainable(settings):
    trace = attend_trainable(embed(settings.inputs), settings.projections)
    return add_other_ways(expand_token(trace, settings.token))


def masked(settings):
    trace = attend_masked(embed(settings.inputs), settings.mask, settings.scale)
    change_token(trace, settings.changed_token, settings.change_by)
    return drop_weights(trace, settings.dropout, settings.drop_seed)


def heads(settings):
    trace = attend_heads(embed(settings.inputs), settings.heads_recipe)
    add_head_parts(add_big_projection(add_batched(trace)))
    return expand_word(switch_off(trace, settings.head_off), settings.token)


def layer(settings):
    return attend_heads(embed(settings.inputs), settings.layer_recipe)


def on_tokens(settings):
    return attend_on_tokens(embed(settings.inputs))


def decoder(settings):
    return decode(embed(settings.inputs), n_heads=settings.n_heads)


def block(settings):
    return of_block.trace_of(understood(to_query(settings), of_block.CONTROLS)[0])


def few(settings):
    return few_trials(settings.draw_seed, d=min(settings.vd, 64))


BUILDS = (simplified, stretched, trainable, masked, heads, layer, on_tokens, decoder, block, few)
