"""Benchmarks, studies and the paper's experiments: `python -m benchmarks` in a checkout.

`bench` compares speed, memory and accuracy with other libraries, `studies` holds the experiments
behind the defaults, and `reproduce` repeats the experiments of the paper. `readme` writes stored
results into README and docs. Install `benchmarks/requirements.txt` first.
"""
