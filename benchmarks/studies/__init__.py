"""Studies over many data sets: how accurate forests are, and which defaults are best.

`study` has what all of them share. Each study measures what is missing from its CSV file and writes
a page; the functions `..._page` make the page from stored results alone.
"""
