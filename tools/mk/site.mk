# SPDX-License-Identifier: Apache-2.0
# The documentation as a site.
SITE := $(BUILD)/site

site: | setup-site ## build the documentation as a site: build/site/docs/index.html
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -b html -c docs -d $(BUILD)/site-doctrees . $(SITE)
	@echo "site: $(SITE)/docs/index.html"

.PHONY: site
