# SPDX-License-Identifier: Apache-2.0
# The documents: their figures and listings, the checks of both, of links and of paths, and the tests that execute the tutorials.
# After check.mk, whose CHECK it uses.
figures: | setup ## draw docs/images/*.svg from docs/figures/*.fig
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/drawings.py

# Links between documents, and to files: Sphinx reads the site (`make site`) and writes nothing.
check-links: | setup-dev setup-site
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -b dummy -c docs -d $(BUILD)/links . $(BUILD)/links
	@echo "check-links: ok, links of the documents by Sphinx"

check-docs: | setup-dev
	@$(CHECK) check.docs

# Numbers in documents that are bound to figures are those of the recorded runs (docs/figures.tsv).
check-figures: | setup-dev
	@$(CHECK) check.figures

# Every block of a tutorial is bound to a test in tests/docs; listings are equal to their files.
check-tutorials: | setup-dev
	@$(CHECK) check.tutorials

listings: | setup-dev ## copy the files that the tutorials show into the documents
	@$(CHECK) check.tutorials --fix

# The commands and listings of the tutorials, in copies of the repository (build/tutorials).
test-tutorials: image gdb-tool cosim | setup-dev setup-debug ## execute the commands and listings of the tutorials
	@$(CHECK) pytest -q -p no:cacheprovider -n 2 --maxschedchunk 1 $(PYTEST_ONLY) tests/docs

# The pictures as a browser shows them.
test-pictures: | setup-dev setup-browser ## look at the documents' pictures in a browser
	@$(CHECK) pytest -q -p no:cacheprovider $(PYTEST_ONLY) tests/pictures

.PHONY: figures listings check-links check-docs check-figures check-tutorials test-pictures test-tutorials
