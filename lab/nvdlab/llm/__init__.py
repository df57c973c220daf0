# SPDX-License-Identifier: MIT OR GPL-2.0
"""The benchmark of an LLM engine beside other work (docs/llm.md)."""
