"""The tables and figures of Joly, Geurts and Wehenkel (2014), from one command.

`paper` has the printed figures; `cells` are the runs, `problems` their data; `store` keeps what is
finished; `tables`, `curves`, `timing`, `variance` and `theorem` say which cells a study needs and
what they show; `findings` judges the paper's claims; `run` does it all.
"""
