"""PRPN (Shen et al. 2018): a language model that may look back only as far as its syntactic distances let it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from groundling.systems.vgnsl.baselines.language_model import (
    DistanceParser,
    LanguageConfig,
    LanguageModel,
    learn_language,
)
from groundling.systems.vgnsl.baselines.shape import Options
from groundling.systems.vgnsl.data import Captions

WINDOW = 2  # words that a distance is computed from: a word and the one before it
RESOLUTION = 0.1  # distances that differ by less open a gate partly


def gates(here: Tensor, distances: Tensor) -> Tensor:
    """How much of position i is seen from t, (batch, n, n): product over j in i+1 .. t-1 of alpha(here_t, d_j).

    alpha is 1 where here_t >= d_j and falls to 0 over RESOLUTION: a large distance d_j between i and t hides i.
    Positions from t on are not seen. `here` (batch, n) is the distance of t itself, or a guess at it.

    >>> gates(torch.tensor([[0.5, 0.9, 0.1, 0.5]]), torch.tensor([[0.5, 0.9, 0.1, 0.5]]))[0, 3].tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    n = distances.shape[1]
    alpha = (nn.functional.hardtanh((here[:, :, None] - distances[:, None, :]) / RESOLUTION * 2 + 1) + 1) / 2
    t, j = torch.arange(n, device=here.device)[:, None], torch.arange(n, device=here.device)
    alpha = torch.where(j < t, alpha, torch.ones_like(alpha))
    after = torch.cat([alpha[:, :, 1:], torch.ones_like(alpha[:, :, :1])], 2)  # j = i + 1 is the first that counts
    return after.flip(2).cumprod(2).flip(2) * (j < t)


class PRPN(LanguageModel):
    """Parsing network (distances by convolution), reading network (LSTM over gated memory), predicting network."""

    def __init__(self, config: LanguageConfig, words: int) -> None:
        super().__init__(config, words)
        dim = config.dim
        self.look = nn.Conv1d(dim, dim, WINDOW)
        self.norm = nn.LayerNorm(dim)
        self.distance = nn.Linear(dim, 2)  # of this word, and a guess at the next word's
        self.query = nn.Linear(2 * dim, dim)
        self.cell = nn.LSTMCell(dim, dim)
        self.ask = nn.Linear(dim, dim)
        self.predict = nn.Linear(2 * dim, dim)

    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """States that predict the next word, and the distances that decided what they have seen."""
        looked = self.look(nn.functional.pad(vectors.transpose(1, 2), (WINDOW - 1, 0))).transpose(1, 2)
        both = self.distance(torch.relu(self.norm(looked))).sigmoid()
        distances, following = both.unbind(2)
        memory = self._memory(vectors, gates(distances, distances))
        # The next word's guess looks back over all positions up to now: shift by one, so that "now" is visible.
        ahead = gates(nn.functional.pad(following, (1, 0)), nn.functional.pad(distances, (0, 1)))[:, 1:, :-1]
        scores = self.ask(memory) @ memory.transpose(1, 2) / memory.shape[2] ** 0.5
        return torch.tanh(self.predict(torch.cat([_gated(scores, ahead) @ memory, memory], 2))), distances

    def _memory(self, vectors: Tensor, open_: Tensor) -> Tensor:
        """Hidden states (batch, n, dim): each step goes on from the mean state that its gates let through."""
        batch, n, dim = vectors.shape
        hidden, cell = [vectors.new_zeros(batch, dim)], [vectors.new_zeros(batch, dim)]
        for t in range(n):
            if t == 0:
                h, c = hidden[0], cell[0]
            else:
                past = torch.stack(hidden[1:], 1)
                asked = self.query(torch.cat([vectors[:, t], hidden[-1]], 1))
                scores = (past @ asked.unsqueeze(2)).squeeze(2) / dim**0.5
                weights = _gated(scores, open_[:, t, :t]).unsqueeze(1)
                h, c = (weights @ past).squeeze(1), (weights @ torch.stack(cell[1:], 1)).squeeze(1)
            h, c = self.cell(vectors[:, t], (h, c))
            hidden.append(h)
            cell.append(c)
        return torch.stack(hidden[1:], 1)


def _gated(scores: Tensor, open_: Tensor) -> Tensor:
    """Attention over what the gates show: proportional to gate times exp(score)."""
    weights = (scores - scores.detach().amax(-1, keepdim=True)).exp() * open_
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-6)


def learn(captions: Captions, seed: int, options: Options, config: LanguageConfig | None = None) -> DistanceParser:
    """Train as a language model; distances come from the parsing network."""
    return learn_language(PRPN, captions, seed, options, config, "training PRPN")
