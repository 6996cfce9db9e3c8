"""The library at work in half a minute."""
