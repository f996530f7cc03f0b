"""A visitor to a house where sign-in is off."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faces.web.houses import Visitor, visiting


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncIterator[Visitor]:
    async with visiting(tmp_path) as found:
        yield found
