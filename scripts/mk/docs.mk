# SPDX-License-Identifier: Apache-2.0
# The documents: their figures, and the check of their links, paths and figures. After check.mk, whose CHECK it uses.
figures: | setup ## draw docs/images/*.svg from docs/figures/*.fig
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/drawings.py

check-docs: | setup-dev
	@$(CHECK) check.docs

check: check-docs

.PHONY: figures check-docs
