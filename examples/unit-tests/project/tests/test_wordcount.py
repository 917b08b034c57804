"""Tests of the project, and of the promise that fixtures stay as they are."""

import errno
import pathlib
import unittest

import wordcount

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"


class Counting(unittest.TestCase):
    def test_words_are_counted_without_their_punctuation(self):
        counted = wordcount.count((FIXTURES / "sentence.txt").read_text())
        self.assertEqual(counted["hello"], 2)
        self.assertEqual(counted["again"], 1)


class Fixtures(unittest.TestCase):
    def test_a_fixture_cannot_be_rewritten(self):
        with self.assertRaises(OSError) as refused:
            (FIXTURES / "sentence.txt").write_text("tampered")
        self.assertIn(refused.exception.errno, (errno.EROFS, errno.EACCES))

    def test_fixtures_cannot_be_moved_aside(self):
        with self.assertRaises(OSError) as refused:
            FIXTURES.rename(FIXTURES.with_name("elsewhere"))
        self.assertIn(refused.exception.errno, (errno.EBUSY, errno.EROFS, errno.EACCES))
