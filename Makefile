.PHONY: check test nightly demo

check:  ## everything a change must pass
	bash .ci/run

test:  ## the quick tests
	uv run pytest

nightly:  ## the slow proofs: a kill at every step, the benchmarks
	uv run pytest -m nightly -n 0 --timeout 7200

demo:  ## the main job at no cost
	uv run lra demo
