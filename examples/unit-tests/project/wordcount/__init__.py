"""Counts words: the smallest project that has something to test."""

from collections import Counter


def count(text: str) -> Counter:
    """Words of `text`, lower-cased, with how often each occurs."""
    return Counter(word.strip(".,;:!?").lower() for word in text.split())
