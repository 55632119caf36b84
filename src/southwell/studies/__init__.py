"""The experiments of the five papers, each a study that can be run again: ``southwell reproduce``.

A subpackage for each paper lists its studies (``STUDIES``) and its claims (``CLAIMS``). A study asks a :class:`Bench`
for data and measurements and returns :class:`Findings`; a claim computes a :class:`Verdict` from them.
"""
