"""What each argument of a learner's code is taken for, by its name and by those beside it."""

import pytest

from attention_core.lights.own_code.calling import Call, Stopped, role_of

NAMES = {
    "q": "q query queries Q x_q q_in input_q qs qx",
    "k": "k key keys K k_vecs xk",
    "v": "v value values V vals",
    "wq": "W_q w_query Wq q_proj matrix_q q_weight W_queries mq",
    "wk": "W_k W_key k_proj",
    "wv": "W_v wvalue v_matrix",
    "wo": "W_o o_proj wo",
    "bq": "b_q bias_query q_bias",
    "mask": "mask attn_mask attention_mask src_mask",
    "padding": "padding_mask key_padding_mask lens lengths valid_lens valid",
    "cache": "cache kv_cache past_key_value past",
    "at": "start_pos offset input_pos past_len past_length cache_position",
    "heads": "n_heads num_heads h heads nhead",
    "width": "d_k d head_dim d_head key_dim head_size",
    "causal": "causal is_causal",
    "dropout": "dropout drop_p attn_dropout",
    "training": "training",
    "average": "average_attn_weights",
    "return": "return_weights need_weights output_attentions with_probs get_attention_scores",
    "y": "context ctx memory encoder_out source kv y encoderStates other_tokens",
    "": "x hidden tokens embeddings decoder_context d_memory_size context_len foo",
}


@pytest.mark.parametrize("role", NAMES)
def test_an_argument_is_taken_for_what_it_is_called(role):
    assert {name: role_of(name) for name in NAMES[role].split()} == dict.fromkeys(
        NAMES[role].split(), role
    )


ROLES = {
    "q, k, v": "q k v",
    "query, key, value, mask=None": "q k v",
    "values, keys, query, mask": "v k q mask",
    "x": "x",
    "x, mask": "x mask",
    "hidden, n_heads": "x heads",
    "query, key=None, value=None": "x",
    "query, mask, key=None": "x mask",
    "query, context": "x y",
    "query, memory": "x y",
    "query, anything": "x y",
    "context, query": "y x",
    "x, context": "x y",
    "context, x": "y x",
    "x, y": "x y",
    "y, x": "y x",
    "decoder, encoder": "x y",
    "encoder, decoder": "y x",
    "one, two": "x y",
    "x, W_q, W_k, W_v": "x wq wk wv",
    "W_q, W_k, W_v, x": "wq wk wv x",
    "x, y, W_q, W_k, W_v": "x y wq wk wv",
    "x, q, k, v": "x wq wk wv",
    "x, W_q, W_k, W_v, W_o, n_heads": "x wq wk wv wo heads",
    "x, W_q, W_k, W_v, b_q, b_k, b_v": "x wq wk wv bq bk bv",
    "a, b, c": "q k v",
    "a, b, c, mask": "q k v mask",
    "a, m1, m2, m3": "x wq wk wv",
    "one, two, three, four, five": "x wq wk wv wo",
    "d, e, f": "q k v",
    "q, k, v, d": "q k v width",
    "q, k, v, h": "q k v heads",
    "*tensors": "x wq wk wv",
}
NOT_TOLD = ["q", "q, k", "k, v", "q, k, v, foo", "x, W_q, W_k", "q, k, v, W_q", "a, b, c, d, e, f"]


def made(arguments):
    names = {}
    exec(f"def it({arguments}): pass", names)
    return names["it"]


@pytest.mark.parametrize("arguments", ROLES)
def test_arguments_are_told_apart_by_their_names_and_places(arguments):
    call = Call(made(arguments))
    assert " ".join(call.roles) == ROLES[arguments]
    assert call.takes_matrices == ("wq" in call.roles)
    assert call.takes_vectors == ("q" in call.roles)


@pytest.mark.parametrize("arguments", NOT_TOLD)
def test_what_cannot_be_told_is_said_with_the_names(arguments):
    with pytest.raises(Stopped) as stopped:
        Call(made(arguments))
    assert f"it takes ({arguments}), and what each of them is" in str(stopped.value)


@pytest.mark.parametrize("arguments", ROLES)
def test_a_second_text_is_taken_where_there_is_a_place_for_one(arguments):
    roles = {*ROLES[arguments].split()}
    beside = "key=None, value=None" in arguments
    assert bool(Call(made(arguments)).takes_second) == (
        "y" in roles or {"q", "k", "v"} <= roles or beside
    )
