#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The task of `jetwatt eval predict --method powertrain`, solved with torch.

  peer_torch.py reference REFERENCE.csv CORPUS.csv   two nets, transfer, prediction
  peer_torch.py transfer REFERENCE.csv CORPUS.csv    the same with one epoch of the reference
  peer_torch.py predict REFERENCE.csv MODES.csv      both nets over all modes

Uses Debian's torch with one thread and plain tensors, which have the least overhead.
"""
import csv
import math
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)


def rows(path):
    with open(path) as f:
        r = [list(map(float, x)) for x in list(csv.reader(f))[1:]]
    return torch.tensor(r)


class Net:
    def __init__(self, x, value):
        self.mean, self.sd = x.mean(0), x.std(0).clamp_min(1e-9)
        self.net = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 128), nn.ReLU(),
                                 nn.Dropout(0.1), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
        self.scale(value)

    def scale(self, value):
        self.off, self.by = value.log().mean(), value.log().std()

    def train(self, x, value, epochs, batch):
        z, y = (x - self.mean) / self.sd, (value.log() - self.off) / self.by
        order = torch.randperm(len(z))
        held, kept = order[:len(z) // 10], order[len(z) // 10:]
        adam, best, least = torch.optim.Adam(self.net.parameters(), 1e-3), None, math.inf
        for _ in range(epochs):
            self.net.train()
            kept = kept[torch.randperm(len(kept))]
            for at in range(0, len(kept), batch):
                i = kept[at:at + batch]
                adam.zero_grad()
                nn.functional.mse_loss(self.net(z[i]).squeeze(1), y[i]).backward()
                adam.step()
            self.net.eval()
            with torch.no_grad():
                loss = nn.functional.mse_loss(self.net(z[held]).squeeze(1), y[held]).item()
            if loss < least:
                least, best = loss, {k: v.clone() for k, v in self.net.state_dict().items()}
        self.net.load_state_dict(best)

    def predict(self, x):
        self.net.eval()
        with torch.no_grad():
            return (self.net((x - self.mean) / self.sd).squeeze(1) * self.by + self.off).exp()


def main():
    what, ref = sys.argv[1], rows(sys.argv[2])
    nets = []
    for c in (4, 5):
        n = Net(ref[:, :4], ref[:, c])
        n.train(ref[:, :4], ref[:, c], 100 if what == "reference" else 1, 32)
        nets.append(n)
    other = rows(sys.argv[3])
    begun = time.process_time()
    if what != "predict":
        seen = other[torch.randperm(len(other))[:50]]
        for c, n in zip((4, 5), nets):
            n.net[-1] = nn.Linear(64, 1)
            n.scale(seen[:, c])
            n.train(seen[:, :4], seen[:, c], 150, 16)
        print("transfer_ms", 1e3 * (time.process_time() - begun))
    begun = time.process_time()
    for n in nets:
        n.predict(other[:, :4])
    print("predict_ms", 1e3 * (time.process_time() - begun))


main()
