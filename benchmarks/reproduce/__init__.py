"""The tables and figures of Joly, Geurts and Wehenkel (2014), from one command.

`paper` has the printed figures and `data` the data sets. `tables`, `figures`, `timing`, `variance`
and `theorem` say which experiments each needs and what they show; the files `..._page` beside them
make it a section of the report, and `..._findings` hold it against the paper's claims. `contents`
lists them by name; `run` does it all.
"""
