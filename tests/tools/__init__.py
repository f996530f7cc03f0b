"""Tests of what cases cannot say: several turns, several callers, a person's answer."""
