# SPDX-License-Identifier: Apache-2.0
"""Fits a line on data that is spread over the processes; each sees only its own share."""

import argparse
import pathlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

SLOPE, OFFSET = 3.0, -1.0


def my_share(rank, size, count=512):
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(count, 1, generator=generator)
    y = SLOPE * x + OFFSET + 0.01 * torch.randn(count, 1, generator=generator)
    return x[rank::size], y[rank::size]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("outputs"))
    arguments = parser.parse_args()

    dist.init_process_group("gloo")  # RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say the rest
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)  # they begin differently; DDP makes them agree
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, y = my_share(rank, size)
    for epoch in range(arguments.epochs):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 25 == 24:
            print(f"rank {rank} of {size}: epoch {epoch + 1}, loss {loss.item():.4f}", flush=True)

    mine = torch.cat([parameter.data.flatten() for parameter in model.parameters()])
    others = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(others, mine)
    assert all(torch.equal(mine, other) for other in others), "the processes do not agree"
    print(f"rank {rank} of {size}: slope {mine[0]:.2f}, offset {mine[1]:.2f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), arguments.model / "line.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
