"""The tables and figures of Joly, Geurts and Wehenkel (2014), from one command.

`paper` has the printed numbers and `data` the data sets. `tables`, `figures`, `timing`, `variance`
and `theorem` list experiments and turn their results into sections of the report, some of them in a
file `..._page`. `run` lists all of them by name, runs them and writes the report.
"""
