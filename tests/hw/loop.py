# SPDX-License-Identifier: GPL-2.0-only
"""A CUDA loop for check-hw: 200 "minibatches" of a few milliseconds each."""
import torch

a = torch.randn(1024, 1024, device="cuda")
for _ in range(200):
    for _ in range(8):
        a = torch.tanh(a @ a)
    torch.cuda.synchronize()
print("done", float(a[0, 0]))
