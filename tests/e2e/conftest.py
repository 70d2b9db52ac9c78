# SPDX-License-Identifier: Apache-2.0
from fixtures import berth, no_secret_is_told, pytest_configure, pytest_runtest_makereport

__all__ = ["berth", "no_secret_is_told", "pytest_configure", "pytest_runtest_makereport"]
