"""Fuzzers of southwell and their oracles; see README.md in this folder."""
