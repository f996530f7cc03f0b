"""Placeholders of secrets in commands: which variable stands where, and where none can."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.safety.variables import with_variables

A, B = "TOOLCRIB_SECRET_0X", "TOOLCRIB_SECRET_1X"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("ls", "ls"),
        ("echo {{secret:A}}", f'echo "${{{A}}}"'),
        ("echo x{{secret:A}}y", f'echo x"${{{A}}}"y'),
        ('curl -H "A: Bearer {{secret:A}}" u', f'curl -H "A: Bearer ${{{A}}}" u'),
        ("a {{secret:A}} {{ secret }} {{secret:B}}", f'a "${{{A}}}" {{{{ secret }}}} "${{{B}}}"'),
        ('echo "$(echo {{secret:A}})"', f'echo "$(echo "${{{A}}}")"'),
        ("X={{secret:A}} cmd", f'X="${{{A}}}" cmd'),
        ("cat <<E\n{{secret:A}}\nE", f"cat <<E\n${{{A}}}\nE"),
        ("cat <<< {{secret:A}}", f'cat <<< "${{{A}}}"'),
    ],
)
def test_a_placeholder_becomes_a_variable_that_is_one_word(command: str, text: str):
    assert with_variables(command).text == text
    assert with_variables(command).wrong == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo '{{secret:A}}'", "in single quotes"),
        ("sh -c 'echo {{secret:A}}'", "in single quotes"),
        ("echo $'{{secret:A}}'", "where a shell replaces nothing"),
        ("cat <<'E'\n{{secret:A}}\nE", "here-document"),
        ('cat <<"E"\n{{secret:A}}\nE', "here-document"),
        ("ls # {{secret:A}}", "in a comment"),
        ("{{secret:A}} x", "where the program's name stands"),
        ("{{secret:A}}=1 x", "in a variable's name"),
        ("echo $(( {{secret:A}} + 1 ))", "in a variable's name"),
        ("echo {{secret:A", "not closed"),
        ("echo {{secret:}}", "names no secret"),
        ("echo {{secret:A|rot13}}", "no filter"),
        ('echo "{{secret:A}}', "could not be parsed"),
        ("echo {{secret:A}} $TOOLCRIB_SECRET_0X", "names that begin with TOOLCRIB_SECRET_"),
        ("echo " + "{{secret:A}} " * 21, "more than 20"),
    ],
)
def test_where_no_variable_is_replaced_a_placeholder_is_refused(command: str, why: str):
    written = with_variables(command)
    assert why in written.wrong
    assert (written.text, written.named) == (command, ())


@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_whatever_is_in_a_secret_a_shell_takes_it_as_one_word(value: str):
    written = with_variables("printf '[%s]' {{secret:A}} \"{{secret:B}}\"")
    env = {variable: value for variable, _ in written.named} | {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(["/bin/bash", "-c", written.text], env=env, capture_output=True, check=True)
    assert done.stdout == f"[{value}][{value}]".encode()
