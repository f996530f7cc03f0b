"""Whether the process behind a mark still lives."""

import os
import subprocess
import sys
from typing import Any

from tests.contracts.conftest import Place
from tests.contracts.records import ANNA
from toolcrib.stores.sql.process import is_gone, new_owner


def of(pid: int, started: str | None = None) -> str:
    place, _, mine, serial = new_owner().split("|")
    return f"{place}|{pid}|{started or mine}|{serial}"


def test_this_process_lives() -> None:
    assert not is_gone(new_owner(), silent=True)


def test_a_process_that_ended_is_gone_even_before_its_parent_took_notice() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(of(child.pid), silent=False)
    child.communicate()
    assert is_gone(of(child.pid), silent=False)


def test_a_number_that_was_given_to_another_process_is_not_the_one_that_was_meant() -> None:
    assert is_gone(of(os.getpid(), "12345"), silent=False)


def test_of_another_machine_only_silence_is_known() -> None:
    assert is_gone("elsewhere|1|1|x", silent=True)
    assert not is_gone("elsewhere|1|1|x", silent=False)
    assert not is_gone("not even a name", silent=False)


async def test_a_store_gives_a_sign_of_life_while_a_call_runs(place: Place) -> None:
    store: Any = place.open()
    store.audit._beat()  # nothing runs: nothing to say
    store.audit.began("slow", 1.0, ANNA, "slow", b"{}")
    await store.audit.settle()
    place.execute("UPDATE tc_inflight SET beat = 1")
    store.audit._beat()
    ((beat,),) = place.ask("SELECT beat FROM tc_inflight")
    assert beat > 1_000_000
