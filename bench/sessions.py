"""(d) Seconds until the networks of two sessions are right in 99 of 100 cases: tp2's look-up, tp6's translator.

The networks are those of the solutions, trained as the sessions train them.
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

from autograder.oracle import oracle

from .measure import spread, table

TITLE = "Seconds to 99 %"


def look_up(seed, limit):
    """tp2's `Net` on its 5 000 training rows: CPU seconds and steps until 99 % of 5 000 other rows are right."""
    tp2 = oracle("tp2_attention").namespace
    torch.manual_seed(seed)
    (data, index), y = tp2["gen_data"](5000, 10, 0, 10)
    (test_data, test_index), test_y = tp2["gen_data"](5000, 10, 0, 10)
    net = tp2["good_start"](tp2["Net"]())
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    spent, steps = 0.0, 0
    while spent < limit:
        start = time.process_time()
        net.train()
        for _ in range(20):
            rows = torch.randint(0, 5000, (128,))
            loss = F.cross_entropy(net(data[rows], index[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        steps += 20
        spent += time.process_time() - start
        right = tp2["hits"](net, test_data, test_index, test_y).float().mean().item()
        if right >= 0.99:
            break
    return {"seconds": spent, "steps": steps, "right": right}


def measure(quick, repeats, folder):
    limit = 1 if quick else 120
    return {"look-up of tp2": [look_up(seed, limit) for seed in range(repeats)]}


def report(results, picture):
    rows = [[name, spread([run["seconds"] for run in runs]), spread([run["steps"] for run in runs]),
             spread([100 * run["right"] for run in runs], "{:.2f}"), len(runs)] for name, runs in results.items()]
    return table(["network", "CPU seconds", "steps", "right on unseen cases, %", "seeds"], rows)
