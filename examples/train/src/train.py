# SPDX-License-Identifier: Apache-2.0
"""Logistic regression with nothing but Python's standard library."""

import argparse
import csv
import json
import math
import os
import random
import statistics


def read_table(path):
    """The columns' names, the rows of features, and the labels (the last column)."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    table = [[float(cell) for cell in row] for row in rows]
    return header[:-1], [row[:-1] for row in table], [row[-1] for row in table]


def standardise(rows):
    """Gives every column mean 0 and deviation 1, and says what was taken away."""
    columns = list(zip(*rows))
    means = [statistics.fmean(column) for column in columns]
    deviations = [statistics.pstdev(column) or 1.0 for column in columns]
    scaled = [[(x - m) / d for x, m, d in zip(row, means, deviations)] for row in rows]
    return scaled, means, deviations


def predict(weights, row):
    score = weights[0] + sum(w * x for w, x in zip(weights[1:], row))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def loss_and_accuracy(weights, rows, labels):
    chances = [predict(weights, row) for row in rows]
    loss = -statistics.fmean(math.log(p if y else 1 - p) for p, y in zip(chances, labels))
    right = statistics.fmean((p > 0.5) == bool(y) for p, y in zip(chances, labels))
    return loss, right


def step(weights, rows, labels, rate):
    """One pass of gradient descent over all rows."""
    gradient = [0.0] * len(weights)
    for row, label in zip(rows, labels):
        miss = predict(weights, row) - label
        for i, x in enumerate([1.0, *row]):
            gradient[i] += miss * x / len(rows)
    return [w - rate * g for w, g in zip(weights, gradient)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--learning-rate", type=float, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--model", required=True, help="folder to write the model to")
    options = parser.parse_args()

    names, rows, labels = read_table(options.data)
    rows, means, deviations = standardise(rows)
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    cut = len(order) * 3 // 4
    train = [rows[i] for i in order[:cut]], [labels[i] for i in order[:cut]]
    held_out = [rows[i] for i in order[cut:]], [labels[i] for i in order[cut:]]
    print(f"{len(train[0])} ships to learn from, {len(held_out[0])} held out, "
          f"learning rate {options.learning_rate}")

    weights = [0.0] * (len(names) + 1)
    for epoch in range(1, options.epochs + 1):
        weights = step(weights, *train, options.learning_rate)
        if epoch % max(1, options.epochs // 5) == 0:
            loss, accuracy = loss_and_accuracy(weights, *held_out)
            print(f"epoch {epoch:4}  loss {loss:.4f}  accuracy {accuracy:.2f}", flush=True)

    loss, accuracy = loss_and_accuracy(weights, *held_out)
    os.makedirs("outputs", exist_ok=True)
    with open("outputs/metrics.json", "w") as file:
        json.dump({"learning_rate": options.learning_rate, "epochs": options.epochs,
                   "loss": round(loss, 4), "accuracy": round(accuracy, 4)}, file, indent=2)
    with open(os.path.join(options.model, "model.json"), "w") as file:
        json.dump({"features": names, "means": means, "deviations": deviations,
                   "weights": weights}, file, indent=2)


if __name__ == "__main__":
    main()
