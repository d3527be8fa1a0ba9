# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch: its profiler's schedule and calls, and traces of the same form."""
__version__ = "0.0+stand.in"
