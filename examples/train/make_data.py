# SPDX-License-Identifier: Apache-2.0
"""Makes data/ships.csv: 200 made-up ships, and whether each took a tug to its berth.

Long, deep ships in strong wind need one; bow thrusters and a pilot who knows the port help. The label
is drawn from a logistic model, so a logistic regression can learn it, but never perfectly.

    python3 make_data.py > data/ships.csv
"""

import csv
import math
import random
import sys

random.seed(8470)
rows = csv.writer(sys.stdout, lineterminator="\n")
rows.writerow(["length_m", "draught_m", "wind_kn", "thrusters", "calls_before", "took_tug"])
for _ in range(200):
    length = random.uniform(60, 360)
    draught = length / 28 + random.uniform(-1.5, 2.5)
    wind = random.gammavariate(2.5, 6)
    thrusters = random.choice([0, 1, 1, 2])
    calls_before = int(random.expovariate(1 / 6))
    score = (length - 190) / 45 + (wind - 15) / 6 - 1.1 * thrusters - 0.12 * calls_before + 1.2
    took_tug = int(random.random() < 1 / (1 + math.exp(-score)))
    rows.writerow([f"{length:.0f}", f"{draught:.1f}", f"{wind:.1f}", thrusters, calls_before, took_tug])
