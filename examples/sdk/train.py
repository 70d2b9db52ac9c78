# SPDX-License-Identifier: Apache-2.0
"""An ordinary Azure ML script: the job of ../train, from Python. Needs azure-ai-ml and azure-identity from PyPI.

    eval "$(berth env)"
    python3 examples/sdk/train.py

Nothing in it knows of Berth; with Azure's variables in place of Berth's it runs on Azure.
"""

import os
import pathlib

from azure.ai.ml import Input, MLClient, Output, command
from azure.ai.ml.entities import AmlCompute, Environment, Model
from azure.identity import DefaultAzureCredential

TRAIN = pathlib.Path(__file__).resolve().parents[1] / "train"

ml = MLClient(DefaultAzureCredential(), os.environ["AZURE_SUBSCRIPTION_ID"], os.environ["AZURE_RESOURCE_GROUP"],
              os.environ["AZURE_ML_WORKSPACE"])

ml.compute.begin_create_or_update(
    AmlCompute(name="sdk-cluster", size="Standard_DS2_v2", min_instances=0, max_instances=2,
               idle_time_before_scale_down=120)).result()

job = ml.jobs.create_or_update(command(
    command="python3 train.py --data ${{inputs.ships}} --learning-rate ${{inputs.learning_rate}} "
            "--epochs ${{inputs.epochs}} --model ${{outputs.model}}",
    code=str(TRAIN / "src"),
    inputs={"ships": Input(type="uri_file", path=str(TRAIN / "data/ships.csv")), "learning_rate": 0.5, "epochs": 200},
    outputs={"model": Output(type="uri_folder")},
    environment=Environment(image="python:3.11-slim"),
    compute="sdk-cluster",
    experiment_name="sdk"))
ml.jobs.stream(job.name)

model = ml.models.create_or_update(
    Model(name="ships", path=f"azureml://jobs/{job.name}/outputs/model", type="custom_model"))
print(f"{model.name} version {model.version}")
