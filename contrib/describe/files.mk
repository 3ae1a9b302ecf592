# SPDX-License-Identifier: MIT
# What documents and ebpf-graph say of series, from the tags in the objects, and what documents say of costs and accuracy, from
# what make measure has found: make describe writes it into the tree, and tests/check/describe.sh checks that it is there. See
# contrib/describe/describe.c and contrib/describe/update-documents.
ebpf_describe_SOURCES = contrib/describe/describe.c contrib/describe/help.c contrib/describe/help.h \
	contrib/describe/types.c contrib/describe/types.h
TYPES_DB = /usr/share/collectd/types.db
described = README.md conf/receiver-prometheus-server.yml contrib/lib/series.py contrib/lib/texts.py conf/threshold.conf \
	docs/collectd-ebpf-metrics.pod docs/costs.md docs/howto/alert.md docs/receivers.md docs/rollout.md
series.json: ebpf-describe $(probe_objects) Makefile
	$(AM_V_GEN)./ebpf-describe '$(TYPES_DB)' $(probe_objects) >$@.tmp && mv $@.tmp $@
describe: series.json
	$(srcdir)/contrib/describe/update-documents series.json $(srcdir)/docs/measured.md $(described:%=$(srcdir)/%)
EXTRA_DIST += contrib/describe/figures.py contrib/describe/fleet.py contrib/describe/metrics_page.py contrib/describe/series_tags.py \
	contrib/describe/update-documents
.PHONY: describe
