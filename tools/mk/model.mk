# SPDX-License-Identifier: Apache-2.0
# Proofs (docs/fuzzing.md).
check-model: | setup-dev ## prove the checks of guest addresses for all values, and the protocol between harts
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m "not long" $(PYTEST_ONLY) tests/model

check-model-long: | setup-dev # fault injection into the proven code, which the proofs must detect
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m long $(PYTEST_ONLY) tests/model

.PHONY: check-model check-model-long
