import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.safety.addresses import Address, Networks, fault_of, read_address, read_block

ADDRESSES = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda n: Address(4, n)),
    st.integers(0, 2**128 - 1).map(lambda n: Address(6, n)),
    # Most of the room is empty: shifted numbers fall into the blocks that matter.
    st.tuples(st.integers(0, 2**16 - 1), st.integers(0, 2**64 - 1)).map(lambda p: Address(6, p[0] << 112 | p[1])),
)


def library(address: Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return (ipaddress.IPv4Address if address.version == 4 else ipaddress.IPv6Address)(address.number)


@given(ADDRESSES)
def test_an_address_reads_back_from_its_own_text(address: Address):
    read = read_address(str(address))
    mapped = address.version == 6 and address.number >> 32 == 0xFFFF
    assert read == (Address(4, address.number & 0xFFFFFFFF) if mapped else address)


@given(ADDRESSES)
def test_the_short_form_is_that_of_the_standard_library(address: Address):
    theirs = library(address)
    if getattr(theirs, "ipv4_mapped", None) is None:
        assert str(address) == str(theirs)


@given(ADDRESSES)
@pytest.mark.meets("net:address:every-spelling")
def test_what_is_public_here_is_global_for_the_standard_library_too(address: Address):
    if not fault_of(address):
        assert library(address).is_global


@given(st.text("0123456789.abcdefx:[]% ", max_size=24))
def test_a_text_is_an_address_only_if_the_standard_library_says_so(text: str):
    read = read_address(text)
    if read is not None:
        theirs = ipaddress.ip_address(text)
        assert int(getattr(theirs, "ipv4_mapped", None) or theirs) == read.number


@pytest.mark.parametrize(
    "text",
    ["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "127.0.0.1.", "256.0.0.1", "1.2.3.4.5", "",
     "::1%lo", "1::2::3", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::12345", "1:2:3:4:5:6:7::8", "::1.2.3", "\u0661.1.1.1"],
)  # fmt: skip
def test_no_other_spelling_is_an_address(text: str):
    assert read_address(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.0.0.0", "this network"),
        ("127.9.9.9", "this machine"),
        ("::1", "this machine"),
        ("::ffff:10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("2002:7f00:1::", "6to4"),
        ("2001:0:1::1", "Teredo"),
        ("2a00:1450::5efe:192.168.0.1", "ISATAP"),
        ("168.63.129.16", "cloud"),
        ("100.64.0.1", "carrier"),
        ("5f00::1", "not routed"),
        ("fec0::1", "site-local"),
        ("fd00:ec2::254", "private"),
        ("ff0e::1", "multicast"),
    ],
)
@pytest.mark.meets("net:address:every-spelling")
def test_an_internal_address_says_what_it_is(text: str, why: str):
    address = read_address(text)
    assert address is not None
    assert why in fault_of(address)


@pytest.mark.parametrize("text", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "172.32.0.1"])
def test_a_public_address_has_no_fault(text: str):
    address = read_address(text)
    assert address is not None
    assert fault_of(address) == ""


@pytest.mark.parametrize(
    ("text", "held"),
    [("10.9.9.9", True), ("11.0.0.0", False), ("::1", True), ("::2", False), ("fd12::", True), ("0.0.0.1", False)],
)
def test_a_block_holds_its_addresses_and_no_others(text: str, held: bool):
    blocks = Networks([block for each in ("10.0.0.0/8", "::1", "fd00::/8") if (block := read_block(each))])
    address = read_address(text)
    assert address is not None
    assert (address in blocks) is held


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/x", "::/129", "10/8", "host"])
def test_what_is_no_block_is_none(text: str):
    assert read_block(text) is None
