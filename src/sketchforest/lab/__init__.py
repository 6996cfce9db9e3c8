"""Experiments that can be run again: each module is one of them."""
