"""Every family that is computed here gives what `transformers` gives."""

import pytest
import torch

pytest.importorskip("transformers", reason="what real models are compared with")
pytest.importorskip("tokenizers", reason="real models need requirements-model.txt")

from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from model_folders import FAMILIES, make

IDS = (3, 17, 5, 5, 41, 29, 52, 0, 8, 11, 5)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_computes_what_transformers_computes(tmp_path, name):
    reference = make(tmp_path, name)
    model = open_model(tmp_path)
    found = run(model, IDS)
    with torch.no_grad():
        wanted = reference(torch.tensor([IDS]), output_attentions=True, output_hidden_states=True)
    torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
    streams = torch.cat(wanted.hidden_states[: len(found.before)])
    torch.testing.assert_close(found.before, streams, atol=1e-4, rtol=1e-4)
    if model.settings.predicts and "logits" in wanted:
        torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-4, rtol=1e-4)
    assert model.quantised is None
