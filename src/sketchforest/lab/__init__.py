"""The library at work: a demo, benchmarks, the paper reproduced, and the studies behind defaults.

Each folder owns its tables, figures and pages. What several use: `data` splits data sets,
`measure`, `memory` and `machine` say what a fit costs and where, `experiments` runs what is not
finished yet, and `store` keeps what is.
"""
