"""Attention in the shapes that people publish it in, right and wrong, as text that a test runs.

`RIGHT` has one a paragraph: its name, whether later tokens are hidden, and the code, in which `it`
is what is checked. `WRONG` has one a line: a right one's name, what stands there, what stands there
in place of it, the first light that is red, and the mistake that is named, or "-" for none.
"""

RIGHT = """
## capitals
def it(Q, K, V, mask=None):
    d_k = Q.size(-1)
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    attn = F.softmax(scores, dim=-1)
    return torch.matmul(attn, V), attn

## capitals_causal causal
def it(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    p_attn = scores.softmax(dim=-1)
    return p_attn @ V

## annotated causal
def it(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn

## values_first causal
def it(v, k, q, mask):
    matmul_qk = torch.matmul(q, k.transpose(-1, -2))
    scaled = matmul_qk / k.shape[-1] ** 0.5
    if mask is not None:
        scaled = scaled + mask * -1e9
    attention_weights = torch.softmax(scaled, dim=-1)
    return attention_weights @ v, attention_weights

## width_argument
def it(q, k, v, d_k):
    return F.softmax(q @ k.transpose(-2, -1) / math.sqrt(d_k), dim=-1) @ v

## weights_first
def it(queries, keys, values):
    weights = torch.softmax(torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(keys.shape[2]), 2)
    return weights, torch.bmm(weights, values)

## four_axes causal
def it(q, k, v):
    b, h, t, d = q.shape
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * d ** -0.5
    hidden = torch.triu(torch.ones(t, t), diagonal=1).bool()
    return torch.einsum("bhqk,bhkd->bhqd", scores.masked_fill(hidden, -torch.inf).softmax(-1), v)

## heads_third
def it(query, keys, values):
    energy = torch.einsum("nqhd,nkhd->nhqk", [query, keys])
    attention = torch.softmax(energy / query.shape[-1] ** 0.5, dim=3)
    return torch.einsum("nhql,nlhd->nqhd", [attention, values])

## matrices
def it(x, W_q, W_k, W_v):
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    scores = queries @ keys.T
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
    return weights @ values

## matrices_causal causal
def it(inputs, Wq, Wk, Wv):
    q, k, v = inputs @ Wq, inputs @ Wk, inputs @ Wv
    scores = q @ k.T / k.shape[1] ** 0.5
    mask = torch.tril(torch.ones(len(q), len(q)))
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=1) @ v

## written_out
def it(X, WQ, WK, WV):
    q, k, v = X @ WQ, X @ WK, X @ WV
    scores = q @ k.T / math.sqrt(q.shape[1])
    e = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return (e / e.sum(dim=1, keepdim=True)) @ v

## by_loops causal
def it(x, w_query, w_key, w_value):
    q, k, v = (x @ w_query).tolist(), (x @ w_key).tolist(), (x @ w_value).tolist()
    out = []
    for i in range(len(q)):
        s = []
        for j in range(i + 1):
            s.append(sum(a * b for a, b in zip(q[i], k[j])) / math.sqrt(len(k[j])))
        e = [math.exp(each - max(s)) for each in s]
        row = [0.0] * len(v[0])
        for w, value in zip(e, v):
            row = [r + w / sum(e) * n for r, n in zip(row, value)]
        out.append(row)
    return torch.tensor(out)

## heads_of_a_function causal
def it(x, W_q, W_k, W_v, W_o, n_heads=1):
    n, d = len(x), W_q.shape[1] // n_heads
    q, k, v = (t.view(n, n_heads, -1).transpose(0, 1) for t in (x @ W_q, x @ W_k, x @ W_v))
    scores = q @ k.transpose(1, 2) / d ** 0.5
    scores = scores.masked_fill(torch.ones(n, n).triu(1) == 1, -torch.inf)
    out = scores.softmax(-1) @ v
    return out.transpose(0, 1).reshape(n, -1) @ W_o

## three_heads_inside
def it(x, W_q, W_k, W_v):
    n = x.shape[0]
    q, k, v = ((x @ W).reshape(n, 3, -1).permute(1, 0, 2) for W in (W_q, W_k, W_v))
    w = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return (w @ v).permute(1, 0, 2).reshape(n, -1)

## built_in causal
def it(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)

## true_hides causal
def it(q, k, v, attn_mask):
    s = (q @ k.mT) / k.size(-1) ** 0.5
    s = s.masked_fill(attn_mask, float("-inf"))
    return s.softmax(-1) @ v

## mask_is_added causal
def it(q, k, v, attn_bias_mask):
    return ((q @ k.mT) / k.size(-1) ** 0.5 + attn_bias_mask).softmax(-1) @ v

## in_a_dictionary
def it(query, key, value):
    weights = (query @ key.mT / key.shape[-1] ** 0.5).softmax(-1)
    return {"attention_weights": weights, "context": weights @ value}

## window causal
def it(q, k, v):
    at = torch.arange(len(q))
    far = (at[:, None] - at)
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill((far < 0) | (far >= 4), -torch.inf)
    return s.softmax(-1) @ v

## alibi causal
def it(q, k, v):
    at = torch.arange(len(q))
    far = (at[:, None] - at)
    s = q @ k.mT / q.shape[-1] ** 0.5 - 0.5 * far.abs()
    return s.masked_fill(far < 0, -torch.inf).softmax(-1) @ v

## temperature_module
class ScaledDotProductAttention(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature
    def forward(self, q, k, v, mask=None):
        attn = torch.matmul(q / self.temperature, k.transpose(-2, -1))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, -1e9)
        attn = F.softmax(attn, dim=-1)
        return torch.matmul(attn, v), attn
it = ScaledDotProductAttention(64 ** 0.5)

## book_parameters
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        matrices = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))
        self.W_query, self.W_key, self.W_value = matrices
    def forward(self, x):
        keys, queries, values = x @ self.W_key, x @ self.W_query, x @ self.W_value
        attn_scores = queries @ keys.T
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        return attn_weights @ values
it = SelfAttention_v1(3, 2)

## book_linear
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out) for _ in range(3))
    def forward(self, x):
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        scores = queries @ keys.mT
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        return weights @ values
it = SelfAttention_v2(4, 3)

## book_causal causal
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, False) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(diagonal=1))
    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2)
        scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        return self.dropout(weights) @ values
it = CausalAttention(3, 2, 6, 0.5)

## book_heads causal
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out) for _ in range(3))
        self.out_proj, self.dropout = nn.Linear(d_out, d_out), nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(diagonal=1))
    def forward(self, x):
        b, n, d_in = x.shape
        keys = self.W_key(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.W_query(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        context = (self.dropout(weights) @ values).transpose(1, 2)
        return self.out_proj(context.reshape(b, n, self.d_out))
it = MultiHeadAttention(8, 6, 1024, 0.1, 2)

## heads_in_a_list causal
class Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(n_embd, head_size, False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)
class MultiHead(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        size = n_embd // n_head
        self.heads = nn.ModuleList([Head(n_embd, size, 32) for _ in range(n_head)])
        self.proj, self.dropout = nn.Linear(n_embd, n_embd), nn.Dropout(0.2)
    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return self.dropout(self.proj(out))
it = MultiHead(12, 3)

## three_in_one causal
class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.n_head, self.n_embd = n_head, n_embd
        self.register_buffer("bias", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (e.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for e in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)
it = CausalSelfAttention(12, 3)

## four_linears causal
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value))
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        self.attn = scores.softmax(dim=-1)
        x = torch.matmul(self.attn, value)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)
it = MultiHeadedAttention(2, 8)

## values_keys_query
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.heads, self.head_dim = heads, embed_size // heads
        self.values, self.keys, self.queries = (nn.Linear(embed_size, embed_size) for _ in range(3))
        self.fc_out = nn.Linear(embed_size, embed_size)
    def forward(self, values, keys, query, mask):
        N, length = query.shape[0], query.shape[1]
        made = (self.values(values), self.keys(keys), self.queries(query))
        values, keys, queries = (e.reshape(N, length, self.heads, -1) for e in made)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values])
        return self.fc_out(out.reshape(N, length, -1))
it = SelfAttention(12, 3)

## by_head_in_one
class MultiheadAttention(nn.Module):
    def __init__(self, input_dim, embed_dim, num_heads):
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.qkv_proj = nn.Linear(input_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)
    def forward(self, x, mask=None, return_attention=False):
        batch, n, _ = x.size()
        qkv = self.qkv_proj(x).reshape(batch, n, self.num_heads, -1).permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        logits = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        attention = F.softmax(logits, dim=-1)
        values = (attention @ v).permute(0, 2, 1, 3).reshape(batch, n, self.embed_dim)
        o = self.o_proj(values)
        return (o, attention) if return_attention else o
it = MultiheadAttention(8, 12, 3)

## vision
class Attention(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        self.heads, self.scale, self.norm = heads, dim_head ** -0.5, nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim_head * heads * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim_head * heads, dim), nn.Dropout(0.1))
    def forward(self, x):
        x = self.norm(x)
        b, n, _ = x.shape
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in qkv)
        attn = (torch.matmul(q, k.transpose(-1, -2)) * self.scale).softmax(dim=-1)
        out = torch.matmul(attn, v).transpose(1, 2).reshape(b, n, -1)
        return self.to_out(out)
it = Attention(12, 3, 5)

## heads_as_parameters
class Heads(nn.Module):
    def __init__(self, h, d, d_head):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.randn(h, d, d_head)) for _ in range(3))
        self.W_O = nn.Parameter(torch.randn(h, d_head, d))
    def forward(self, x):
        q, k, v = (torch.einsum("bnd,hde->bhne", x, W) for W in (self.W_Q, self.W_K, self.W_V))
        z = (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1) @ v
        return torch.einsum("bhne,hed->bnd", z, self.W_O)
it = Heads(3, 12, 4)

## normed_queries
class NormedAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.qkv = num_heads, nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.q_norm, self.k_norm = (nn.LayerNorm(dim // num_heads) for _ in range(2))
    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))
it = NormedAttention(12, 3)

## rotary causal
def turned(x, at=1e4):
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] / at ** (torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)
class LlamaAttention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
    def forward(self, x):
        b, n, _ = x.shape
        q = turned(self.wq(x).view(b, n, self.n_heads, -1).transpose(1, 2))
        k = turned(self.wk(x).view(b, n, self.n_kv_heads, -1).transpose(1, 2))
        v = self.wv(x).view(b, n, self.n_kv_heads, -1).transpose(1, 2)
        k, v = (t.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for t in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        scores = scores + torch.full((n, n), float("-inf")).triu(1)
        out = F.softmax(scores.float(), dim=-1) @ v
        return self.wo(out.transpose(1, 2).reshape(b, n, -1))
it = LlamaAttention(16, 4, 2)

## cross
class CrossAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim * 2, bias=False)
        self.to_out = nn.Linear(dim, dim)
    def forward(self, x, context=None):
        context = x if context is None else context
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.to_q(x), k, v))
        out = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(out.transpose(1, 2).flatten(2))
it = CrossAttention(12, 2)

## before_block causal
class CausalMHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.n_heads = n_heads
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        n = x.shape[1]
        scores = q @ k.mT / q.shape[-1] ** 0.5
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = CausalMHA(d_model, n_heads)
        self.mlp = nn.Sequential(nn.Linear(d_model, 24), nn.GELU(), nn.Linear(24, d_model))
    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))
it = Block(12, 3)

## after_block
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, 24), nn.Linear(24, d_model)
    def forward(self, src, src_mask=None):
        attended, _ = self.self_attn(src, src, src, attn_mask=src_mask)
        x = self.norm1(src + attended)
        return self.norm2(x + self.linear2(F.relu(self.linear1(x))))
it = EncoderLayer(12, 3)

## torchs causal
it = nn.MultiheadAttention(12, 3, dropout=0.5)

## torchs_block causal
it = nn.TransformerEncoderLayer(12, 3, 16, batch_first=True, norm_first=True)

## returns_weights
class Returns(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.scale = d ** 0.5
    def forward(self, x):
        weights = torch.softmax(self.q(x) @ self.k(x).mT / self.scale, dim=-1)
        return weights @ self.v(x), weights
it = Returns(8)

## on_line_of_lambda
it = lambda x, q, k, v: F.softmax((x @ q) @ (x @ k).mT / q.shape[1] ** 0.5, dim=-1) @ (x @ v)
"""

WRONG = r"""
capitals: dim=-1 ~> dim=-2  ## rows_sum_to_1 softmax_over_queries
capitals: math.sqrt(d_k) ~> 1  ## variance no_scaling
capitals: math.sqrt(d_k) ~> d_k  ## variance divided_by_d
capitals: / math.sqrt ~> * math.sqrt  ## variance multiplied_by_root
capitals: (attn, V) ~> (attn, K)  ## formula keys_as_values
capitals: torch.matmul(Q, K ~> torch.matmul(Q, Q  ## own_row queries_as_keys
capitals: torch.matmul(Q, K ~> torch.matmul(K, K  ## own_row query_unused
capitals: (Q, K.transpose(-2, -1)) ~> (K, Q.transpose(-2, -1))  ## own_row query_and_key_swapped
capitals: F.softmax(scores, dim=-1) ~> F.softmax(F.softmax(scores, dim=-1), dim=-1)  \
    ## variance softmax_twice
capitals: F.softmax(scores, dim=-1) ~> torch.sigmoid(scores)  ## rows_sum_to_1 sigmoid_for_softmax
capitals: F.softmax(scores, dim=-1) ~> F.softmax(-scores, dim=-1)  ## variance minus_sign
capitals: F.softmax(scores, dim=-1) ~> scores  ## rows_sum_to_1 no_softmax
capitals: F.softmax(scores, dim=-1) ~> F.dropout(F.softmax(scores, -1), 0.3)  \
    ## repeatable dropout_left_on
capitals: F.softmax(scores, dim=-1) ~> scores / scores.sum(-1, keepdim=True)  \
    ## not_negative divided_by_the_sum
capitals: d_k = Q.size(-1) ~> d_k = Q.size(-2)  ## variance divided_by_another_width
capitals: d_k = Q.size(-1) ~> d_k = 64  ## variance -
capitals_causal: scores.masked_fill(mask == 0, float("-inf")) ~> scores * mask  \
    ## hidden_is_zero zero_in_place_of_infinity
capitals_causal: scores = scores.masked_fill ~> scores.masked_fill  ## hidden_is_zero mask_ignored
capitals_causal: float("-inf") ~> -5.0  ## hidden_is_zero zero_in_place_of_infinity
capitals_causal: mask == 0 ~> mask.mT == 0  ## hidden_is_zero mask_transposed
capitals_causal: scores.softmax(dim=-1) ~> torch.exp(scores)  ## finite not_normalised
annotated: scores = scores.masked_fill(mask == 0, -1e9) ~> pass  ## hidden_is_zero mask_ignored
values_first: scaled + mask * -1e9 ~> scaled  ## hidden_is_zero mask_ignored
values_first: @ v, ~> @ q,  ## own_row queries_as_values
weights_first: math.sqrt(keys.shape[2]), 2) ~> math.sqrt(keys.shape[2]), 0)  \
    ## rows_sum_to_1 softmax_over_batch
four_axes: diagonal=1 ~> diagonal=0  ## finite diagonal_hidden
four_axes: diagonal=1 ~> diagonal=2  ## hidden_is_zero mask_late
four_axes: torch.triu(torch.ones(t, t), diagonal=1) ~> torch.tril(torch.ones(t, t))  \
    ## finite mask_opposite
heads_third: "nqhd,nkhd->nhqk" ~> "nqhd,nkhd->nhkq"  ## own_row query_and_key_swapped
matrices: x @ W_q, ~> x @ W_k,  ## own_row query_unused
matrices: return weights @ values ~> return F.relu(weights @ values)  ## both_signs relu_last
matrices: return weights @ values ~> return weights @ (values + 1)  ## formula values_changed
matrices: queries, keys, values = x @ W_q, x @ W_k, x @ W_v ~> \
    queries, keys, values = W_q @ x, W_k @ x, W_v @ x  ## runs matrices_on_tokens
matrices: x @ W_q, x @ W_k, x @ W_v ~> x @ W_q.T, x @ W_k.T, x @ W_v.T  ## own_row matrices_turned
matrices: x @ W_q, x @ W_k, x @ W_v ~> x, x, x[:, :W_v.shape[1]]  ## tokens_apart matrices_ignored
matrices: scores = queries @ keys.T ~> \
    scores = queries @ keys.T; scores = (scores - scores.mean()) / scores.std()  \
    ## own_row whole_matrix_norm
matrices: queries, keys ~> x = (x - x.mean()) / x.std(); queries, keys  \
    ## tokens_apart whole_matrix_norm
matrices: queries, keys ~> x = x + torch.arange(len(x))[:, None] / 10; queries, keys  \
    ## rows_sum_to_1 positions_inside
matrices: x @ W_q, x @ W_k, x @ W_v ~> (x.mul_(2)) @ W_q, x @ W_k, x @ W_v  \
    ## rows_sum_to_1 inputs_overwritten
matrices: queries, keys, values = x @ W_q ~> \
    W_q = torch.rand_like(W_q); queries, keys, values = x @ W_q  \
    ## repeatable random_numbers
matrices: weights = torch.softmax( ~> \
    it.n = getattr(it, "n", 0) + 1; weights = it.n * torch.softmax(  ## repeatable remembers
matrices: x @ W_q, x @ W_k, x @ W_v ~> \
    (e.bfloat16() @ W.bfloat16() for e, W in ((x, W_q), (x, W_k), (x, W_v)))\n    values = \
    values.float()\n    queries, keys = queries.float(), keys.float()  \
    ## formula -
matrices_causal: torch.softmax(scores, dim=1) ~> \
    torch.softmax(scores.nan_to_num(neginf=0), dim=1)  \
    ## hidden_is_zero zero_in_place_of_infinity
matrices_causal: scores = scores.masked_fill(mask == 0, float("-inf"))\n    return \
    torch.softmax(scores, dim=1) ~> \
    return torch.softmax(scores, dim=1) * mask  ## rows_sum_to_1 mask_after_softmax
matrices_causal: scores = scores.masked_fill(mask == 0, float("-inf"))\n    return \
    torch.softmax(scores, dim=1) ~> \
    w = torch.softmax(scores, dim=1) * mask; w = w / w.sum(1, keepdim=True)\n    return w  \
    ## finite mask_after_softmax
matrices_causal: torch.ones(len(q), len(q)) ~> torch.ones(7, 7)  ## any_length one_length
written_out: - scores.max(dim=1, keepdim=True).values ~>   ## finite softmax_overflow
written_out: / e.sum(dim=1, keepdim=True) ~> / e.sum(dim=0, keepdim=True)  \
    ## finite softmax_over_queries
written_out: / e.sum(dim=1, keepdim=True) ~> / e.sum()  ## rows_sum_to_1 softmax_over_everything
by_loops: range(i + 1) ~> range(max(i, 1))  ## seen_has_weight -
by_loops: - max(s) ~>   ## finite softmax_overflow
by_loops: for i in range(len(q)): ~> for i in range(len(q) - 1):  ## runs -
heads_of_a_function: (t.view(n, n_heads, -1).transpose(0, 1) ~> (t.view(n_heads, n, -1)  \
    ## - heads_without_transpose
heads_of_a_function: out.transpose(0, 1).reshape ~> out.reshape  ## - heads_without_transpose
heads_of_a_function: softmax(-1) ~> softmax(0)  ## finite heads_normalised
heads_of_a_function: / d ** 0.5 ~> / W_q.shape[1] ** 0.5  ## variance divided_by_another_width
three_heads_inside: (w @ v) ~> (w @ v[:1])  ## - one_head_repeated
book_parameters: dim=-1 ~> dim=0  ## rows_sum_to_1 softmax_over_queries
book_parameters: attn_scores / keys.shape[-1] ** 0.5 ~> attn_scores  ## variance no_scaling
book_linear: dim=-1 ~> dim=0  ## rows_sum_to_1 softmax_over_batch
book_linear: weights @ values ~> weights @ keys  ## rows_sum_to_1 keys_as_values
book_causal: diagonal=1 ~> diagonal=2  ## hidden_is_zero mask_late
book_heads: .view(b, n, self.num_heads, self.head_dim).transpose(1, 2) ~> \
    .view(b, self.num_heads, n, self.head_dim)  ## - heads_without_transpose
book_heads: keys.shape[-1] ** 0.5, dim=-1 ~> self.d_out ** 0.5, dim=-1  \
    ## variance divided_by_another_width
heads_in_a_list: k.shape[-1] ** -0.5 ~> C ** -0.5  ## variance divided_by_another_width
three_in_one: .transpose(1, 2).contiguous().view(B, T, C) ~> .contiguous().view(B, T, C)  \
    ## - heads_without_transpose
four_linears: scores.softmax(dim=-1) ~> scores.softmax(dim=1)  ## - heads_normalised
values_keys_query: dim=3 ~> dim=0  ## rows_sum_to_1 softmax_over_batch
vision: .softmax(dim=-1) ~> .softmax(dim=0)  ## rows_sum_to_1 -
vision: .softmax(dim=-1) ~> .sigmoid()  ## rows_sum_to_1 -
heads_as_parameters: / k.shape[-1] ** 0.5 ~>   ## variance no_scaling
heads_as_parameters: softmax(-1) ~> softmax(1)  ## rows_sum_to_1 heads_normalised
rotary: / math.sqrt(self.head_dim) ~>   ## variance -
before_block: / q.shape[-1] ** 0.5 ~>   ## variance no_scaling
after_block: x = self.norm1(src ~> \
    src = F.layer_norm(src, src.shape[1:]); x = self.norm1(src  ## tokens_apart -
vision: nn.LayerNorm(dim) ~> lambda x: F.layer_norm(x, x.shape[1:])  ## tokens_apart -
before_block: self.ln_1(x)) ~> F.layer_norm(x, x.shape))  ## no_leak -
after_block: self.norm1(src + attended) ~> F.layer_norm(src + attended, src.shape) \
    ## tokens_apart -
returns_weights: dim=-1 ~> dim=1  ## rows_sum_to_1 softmax_over_queries
returns_weights: self.v(x), weights ~> self.v(x) * torch.rand(1), weights \
    ## repeatable random_numbers
matrices: keys.shape[-1] ** 0.5, ~> \
    23 ** 0.5,  ## variance divided_by_another_width
matrices: softmax(scores / keys.shape[-1] ** 0.5 ~> \
    softmax((scores / keys.shape[-1] ** 0.5).masked_fill(torch.ones_like(scores).triu(1) == 1, \
    -torch.inf) \
    ## seen_has_weight hides_later_tokens
matrices: weights @ values ~> (weights @ values + 1j)  ## runs -
matrices: return weights @ values ~> o = weights @ values; return (o - o.mean()) / o.std() \
    ## own_row whole_matrix_norm
matrices: x @ W_q, x @ W_k, x @ W_v ~> x @ W_q.abs(), x @ W_k, x @ W_v.ceil()  ## formula -
matrices: x @ W_v ~> x[:, :W_v.shape[1]]  ## own_row values_changed
matrices_causal: scores.masked_fill(mask == 0, float("-inf")) ~> scores + mask \
    ## hidden_is_zero mask_ignored
matrices_causal: mask == 0 ~> mask.T == 0  ## hidden_is_zero mask_transposed
matrices_causal: mask == 0, float("-inf") ~> mask == 1, -1e9  ## hidden_is_zero mask_opposite
matrices_causal: mask == 0 ~> mask.tril(-1) == 0  ## finite diagonal_hidden
matrices_causal: return torch.softmax(scores, dim=1) ~> \
    w = (scores.nan_to_num(neginf=0)); return (w / w.sum(1, keepdim=True))  ## - divided_by_the_sum
matrices_causal: q, k, v = inputs @ Wq, inputs @ Wk, inputs @ Wv ~> \
    q, k, v = Wq @ inputs, Wk @ inputs, Wv @ inputs  ## runs matrices_on_tokens
by_loops: range(i + 1) ~> range(i + 2 if i + 1 < len(k) else i + 1)  ## hidden_is_zero mask_late
three_heads_inside: .reshape(n, 3, -1).permute(1, 0, 2) for W ~> \
    .reshape(n, -1, 3).permute(2, 0, 1) for W \
    ## - heads_interleaved
alibi: - 0.5 * far ~> + 0.5 * far  ## variance -
torchs: MultiheadAttention(12, 3, dropout=0.5) ~> Linear(3, 3)  ## runs tokens_never_meet
book_heads: self.W_key(x).view ~> self.W_query(x).view  ## - queries_as_keys
three_in_one: self.c_attn(x).split ~> self.c_attn(x + torch.arange(T)[:, None] / 10).split \
    ## rows_sum_to_1 -
"""
