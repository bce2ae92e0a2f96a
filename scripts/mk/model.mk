# SPDX-License-Identifier: Apache-2.0
# What is proven rather than tried (docs/fuzzing.md).
check-model: | setup-dev ## the checks of guests' addresses, for all values that there can be
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m "not long" tests/model

check-model-long: | setup-dev # faults planted in what is proven, which must be found
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m long tests/model

.PHONY: check-model check-model-long
