# What one calls. `make test` is everything, and is what .ci/run calls.
.PHONY: all check test bench vm-test

all:
	cargo build --release

# Quick, any machine, no root: format, lints, unit tests, documentation examples, command-line tests.
check:
	integration/test-all quick

# All of them: as root also installs what the tests need, and starts virtual machines.
test:
	integration/test-all

# Paired runs beside crun, runc and bubblewrap; writes target/bench.json.
bench:
	cargo build --release -p mur -p mur-integration
	cargo run --quiet --release -p mur-integration --bin mur-bench -- --output target/bench.json

# The boots alone: integration/vm/jobs on other kernels and cgroup layouts. `make vm-test JOBS=hello` picks.
vm-test:
	cargo build --release -p mur
	integration/vm/test $(JOBS)
