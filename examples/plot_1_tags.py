"""
Tags for questions
==================
"""

print(1)
