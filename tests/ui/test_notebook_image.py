"""`show` with an image: which patch is which token, and what is said where none fits."""

import io
import re

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

from attention_core import load_recording, recorded
from attention_core.recording.recording import Patches
from attention_explorer import show
from attention_ui.notebook.canvas import bounds, packed
from attention_ui.notebook.image import as_image
from attention_ui.notebook.patches import sinks, special_names
from attention_ui.notebook.show import MOST_IN_FILE
from checks import random
from tiny_models import inputs_of, tiny


def photo(wide=40, high=40):
    """An image in which each pixel tells its place."""
    y, x = np.mgrid[0:high, 0:wide]
    return np.stack([x * 255 // wide, y * 255 // high, 0 * x + 90], axis=-1).astype(np.uint8)


def seen_of(kind, **settings):
    model = tiny(kind, **settings)
    with torch.no_grad(), recorded(model) as seen:
        model(**inputs_of(model))
    return seen


# --- which token is where -------------------------------------------------------------------------
KINDS = {
    "vit": ["CLS"],
    "clip": ["CLS"],
    "clip_vision_model": ["CLS"],
    "deit": ["CLS", "distillation"],
    "dinov2": ["CLS"],
    "siglip_vision_model": [],
}


@pytest.mark.parametrize(("kind", "special"), KINDS.items())
def test_patches_are_found_by_how_the_model_cuts_an_image(kind, special):
    seen = seen_of(kind)
    assert seen.patches.grid == (4, 4)
    picture = show(seen, image=photo())
    assert picture.cut.patches == tuple(range(len(special), len(special) + 16))
    assert [name for _, name in picture.cut.beside] == special
    assert torch.equal(picture.weights, torch.stack([each.weights()[0] for each in list(seen)[:2]]))
    assert picture.notices == []


def test_registers_have_names_and_a_wide_image_has_a_wide_grid():
    model = tiny("dinov2_with_registers", num_register_tokens=4)
    with torch.no_grad(), recorded(model) as seen:
        model(pixel_values=random(1, 3, 32, 56))
    assert seen.patches.grid == (4, 7)
    picture = show(seen, image=photo(70, 40))
    assert [name for _, name in picture.cut.beside] == special_names(5)
    assert special_names(5)[:3] == ["CLS", "register 1", "register 2"]
    assert picture.small.size == (448, 256)
    assert picture.notices == []


class Cuts(nn.Module):
    """An image model of a few lines, as people write them: one patch is told from all others."""

    def __init__(self, n_special=1):
        super().__init__()
        self.cut, self.special = nn.Conv2d(3, 12, 8, stride=8), nn.Parameter(random(n_special, 12))

    def forward(self, pixels):
        patches = self.cut(pixels).flatten(2).mT
        x = torch.cat([self.special[None].expand(len(pixels), -1, -1), patches], dim=1)[:, None]
        return F.scaled_dot_product_attention(x, x, x)


def test_a_patch_of_the_picture_is_the_patch_of_the_image():
    """The one bright patch, in row 1 and column 3 of 4 × 5, is the one that its weights are of."""
    torch.manual_seed(0)
    model, pixels = Cuts(), torch.zeros(1, 3, 32, 40)
    pixels[:, :, 8:16, 24:32] = 9
    with torch.no_grad(), recorded(model) as seen:
        model(pixels)
    picture = show(seen, image=pixels)
    assert picture.cut.grid == (4, 5)
    from_others = picture.weights[0, 0][picture.cut.asking[0]][list(picture.cut.patches)]
    odd = (from_others - from_others.median()).abs().argmax()
    assert divmod(int(odd), 5) == (1, 3)
    left, top = 3.5 * picture.small.width / 5, 1.5 * picture.small.height / 4
    assert picture.small.getpixel((round(left), round(top))) == (255, 255, 255)


def of_words(n_before=3, n_after=4, places=None):
    """A recording of a model whose layers see words and an image of 2 × 3 among them."""
    n_keys = n_before + 6 + n_after
    model = nn.TransformerEncoderLayer(12, 3, 16, batch_first=True).eval()
    tokens = [f"t{at}" for at in range(n_keys)]
    with torch.no_grad(), recorded(model, tokens=tokens) as seen:
        model(random(1, n_keys, 12))
    places = tuple(range(n_before, n_before + 6)) if places is None else places
    seen.patches = Patches((2, 3), (places,))
    return seen


def test_words_beside_an_image_have_their_names():
    picture = show(of_words(), image=photo(30, 20))
    assert picture.cut.patches == (3, 4, 5, 6, 7, 8)
    assert [name for _, name in picture.cut.beside] == ["t0", "t1", "t2", "t9", "t10", "t11", "t12"]
    assert picture.start == 12, "the last word asks first"
    own = show(of_words(), [f"<b>{at}" for at in range(13)], image=photo(30, 20))
    assert own.cut.beside[0] == (0, "<b>0")
    assert "<b>0" not in own.page(), "names of tokens are packed, and set as text"


def test_several_patches_may_be_one_token_among_words():
    seen = of_words()
    seen.patches = Patches((4, 6), ((3, 4, 5, 6, 7, 8),))
    assert show(seen, image=photo(30, 20)).cut.grid == (2, 3)
    seen.patches = Patches((5, 7), ((3, 4, 5, 6, 7, 8),))
    with pytest.raises(ValueError, match=r"6 tokens stand for the image.*5 × 7 patches"):
        show(seen, image=photo())


def test_a_model_of_words_and_images_says_which_tokens_are_the_image():
    model = tiny("llava", image_token_id=90, vision_feature_layer=-1)
    ids = torch.tensor([[1, 5, *[90] * 16, 7, 8, 9]])
    with torch.no_grad(), recorded(model) as seen:
        model(input_ids=ids, pixel_values=random(1, 3, 32, 32))
    assert seen.patches == Patches((4, 4), (tuple(range(2, 18)),))
    assert "vision" in show(seen, image=photo()).layers[0]
    words = show(seen, image=photo(), kind="language")
    assert words.cut.patches == tuple(range(2, 18))
    assert [at for at, _ in words.cut.beside] == [0, 1, 18, 19, 20]


def test_a_query_that_is_no_patch_asks_by_itself():
    seen = seen_of("siglip_vision_model")
    pooled = show(seen, image=photo(), kind="head")
    assert (pooled.cut.asking, pooled.cut.askers) == ((), ((0, "query 0"),))
    assert pooled.start == 0


def test_what_is_saved_knows_its_patches(tmp_path):
    for seen in (seen_of("deit"), of_words()):
        seen.save(tmp_path / "seen.safetensors")
        assert load_recording(tmp_path / "seen.safetensors").patches == seen.patches


def test_what_does_not_fit_is_said():
    vit = seen_of("vit")
    assert show(vit, image=photo(), grid=(2, 8)).cut.grid == (2, 8)
    told = show(vit, image=photo(80, 40)).notices
    assert any("80 × 40 pixels" in each and "stretched" in each for each in told)
    with pytest.raises(ValueError, match=r"17 keys.*3 × 3 patches, 9 in all"):
        show(vit, image=photo(), grid=(3, 3))
    with pytest.raises(ValueError, match="grid is 7, but should be rows and columns"):
        show(vit, image=photo(), grid=7)
    with pytest.raises(ValueError, match=r"text_model.*has 9 keys.*kind='vision_model"):
        show(seen_of("clip"), image=photo(), kind="text")
    with pytest.raises(ValueError, match=r"does not say.*Give grid="):
        show(seen_of("bert"), image=photo())
    with pytest.raises(ValueError, match="image is for what was recorded"):
        show(torch.eye(3), image=photo())


# --- sinks and numbers ----------------------------------------------------------------------------
def test_an_attention_sink_is_the_key_that_all_queries_give_much():
    even = torch.full((1, 1, 20, 20), 1 / 20)
    assert sinks(even) == [[None]]
    sunk = even.clone() * 0.5
    sunk[..., 7] += 0.5
    assert sinks(sunk) == [[{"key": 7, "share": 0.525}]]


def test_packed_weights_are_these_to_a_hundredth_of_a_percent():
    weights = random(2, 3, 5, 5).softmax(dim=-1)
    back = torch.from_numpy(packed(weights).astype(np.float32)) / 65_535
    assert (back - weights).abs().max() < 1e-5
    wide = random(2, 3, 5, 5) * 9
    low, high = bounds(wide)
    back = torch.from_numpy(packed(wide).astype(np.float32)) / 65_535 * (high - low) + low
    assert (back - wide).abs().max() < 1e-3


# --- images ---------------------------------------------------------------------------------------
def files(folder):
    made = Image.fromarray(photo())
    made.save(folder / "a.png")
    yield str(folder / "a.png")
    yield folder / "a.png"
    yield made
    yield photo()
    yield photo().astype(np.float64) / 255
    yield torch.from_numpy(photo()).permute(2, 0, 1)
    yield torch.from_numpy(photo()).permute(2, 0, 1)[None].float() / 255
    yield torch.from_numpy(photo()).half() / 255


def test_an_image_may_come_in_any_of_the_usual_ways(tmp_path):
    for given in files(tmp_path):
        off = np.abs(np.asarray(as_image(given)).astype(int) - photo())
        assert off.max() <= 1, type(given)
    grey = as_image(photo()[..., 0])
    assert (np.asarray(grey) == photo()[..., :1]).all()
    centred = as_image(torch.from_numpy(photo()).float() / 127.5 - 1)
    assert (centred.getextrema()[0][0], centred.getextrema()[1][1]) == (0, 255)
    clear = Image.new("RGBA", (4, 4), (9, 9, 9, 0))
    assert as_image(clear).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(("given", "words"), [
    (7, "image is a int"),
    ("gone.png", "gone.png cannot be read as an image: No such file"),
    (__file__, "is no image"),
    (np.zeros((3, 5, 7, 9)), "image is 3 × 5 × 7 × 9"),
    (np.zeros((5, 7, 9)), "image is 5 × 7 × 9"),
    (np.zeros((0, 5, 3)), "image is 0 × 5 × 3"),
    (np.array([["a"]]), "numbers of the kind <U1"),
    (torch.full((3, 4, 4), torch.nan), "nan or infinite"),
    (np.zeros((1, 60_000_000)), "at most 50,000,000 are drawn"),
])  # fmt: skip
def test_what_is_no_image_is_said(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        as_image(given)


def test_a_file_that_claims_too_many_pixels_or_is_cut_off_is_not_read(tmp_path):
    made = io.BytesIO()
    Image.fromarray(photo(200, 200)).save(made, "png")
    whole = made.getvalue()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    claim = whole[:16] + (60_000).to_bytes(4, "big") + (60_000).to_bytes(4, "big") + whole[24:]
    (tmp_path / "huge.png").write_bytes(claim)
    for name in ("cut.png", "huge.png"):
        with pytest.raises(ValueError, match=name):
            as_image(tmp_path / name)


def test_a_picture_of_an_image_has_a_text_and_a_still_one():
    picture = show(seen_of("vit"), image=photo())
    bundle = picture._repr_mimebundle_()
    assert bundle["text/plain"] == repr(picture) == picture.alt
    assert "4 × 4 patches" in picture.alt
    assert "CLS" in picture.alt
    assert Image.open(io.BytesIO(picture.png)).size == picture.small.size
    assert picture._mime_()[0] == "text/html"


def test_many_weights_are_not_all_put_into_the_notebook():
    model = tiny("vit", image_size=240)
    with torch.no_grad(), recorded(model) as seen:
        model(pixel_values=random(1, 3, 240, 240))
    picture = show(seen, image=photo())
    n_tokens = 1 + seen.patches.grid[0] * seen.patches.grid[1]
    assert picture.weights.shape == (1, 4, n_tokens, n_tokens)
    assert 4 * n_tokens**2 <= MOST_IN_FILE < 8 * n_tokens**2
    assert picture.notices == ["Only layer 0 is drawn: layer= chooses one."]
    last = show(seen, image=photo(), layer=1, head=3)
    assert torch.equal(last.weights[0, 0], seen[1].weights()[0, 3])
