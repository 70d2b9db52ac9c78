# SPDX-License-Identifier: Apache-2.0
"""@azure/arm-machinelearning from npm, as it is, against a real server. BERTH_CLIENT names the release."""


def test_the_checker_sees_what_is_wrong(suite):
    suite("mapper.test.mjs")


def test_every_operation_is_answered(suite):
    suite("operations.test.mjs")


def test_a_platform_engineers_day(suite):
    suite("platform_engineer.test.mjs")


def test_a_data_scientists_day(suite):
    suite("data_scientist.test.mjs")


def test_bad_input(suite):
    suite("bad_input.test.mjs")


def test_the_credentials_of_azure_identity(suite):
    suite("identity.test.mjs", with_env=True)
