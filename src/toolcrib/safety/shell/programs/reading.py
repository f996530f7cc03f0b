"""Programs that mostly look, and the few words with which they do more. They stand in the table of `allowed` as well."""

import re
from collections.abc import Callable

from toolcrib.safety.shell.marks import plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import credential_tree, is_inside
from toolcrib.safety.shell.run import Run
from toolcrib.safety.shell.writing import note_read, note_write

Look = Callable[[Run], None]
_RUNS_INSIDE = re.compile(r"\$\(|`")


def second_written(run: Run) -> None:
    """`uniq in out`, `xxd in out`: the second operand is written."""
    for word in run.operands("-f -s -w -l -c -o -g -n -R --skip-fields --skip-chars --check-chars")[1:2]:
        note_write(run.machine, word, run.scope)


def arithmetic(run: Run) -> None:
    """Where a builtin takes a text for a sum or an index, a substitution in the text runs."""
    if any(_RUNS_INSIDE.search(word) for word in run.words):
        run.machine.worry("arithmetic", f"{run.name} would run the command that the text holds")


def loaded_libraries(run: Run) -> None:
    """`ldd` may start the program to see what it loads."""
    if any(not plain(word).startswith(("/bin/", "/usr/", "/lib", "/sbin/", "/opt/")) for word in run.operands()):
        run.ask("ldd", "ldd may run the program that it looks at", "readelf -d")


def remembered(run: Run) -> None:
    """`hash -p file name` gives a name another program."""
    if run.has("-p"):
        run.ask("hash", "it would put another program under a name")


def json_query(run: Run) -> None:
    """`jq`, `yq`: their own language knows the environment, and `yq` files."""
    for word in run.operands("--arg --argjson --slurpfile --rawfile --indent -L"):
        if re.search(r"\$ENV\b|(?<![\w.\"])env\b|\bload\w*\s*\(|\bstrenv|\benvsubst|\beval\s*\(", plain(word)):
            run.ask("credential", f"{run.name} would show the environment or other files")


def host_name(run: Run) -> None:
    """`hostname name` renames the machine."""
    if run.operands():
        run.ask("admin", "it would rename the machine")


def addresses(run: Run) -> None:
    """`arp -s`, `-d`, `-f` change the table."""
    if run.has("-s", "-d", "-f", "--set", "--delete", "--file"):
        run.ask("network-setup", "it changes the machine's network")


def processes(run: Run) -> None:
    """`ps e` shows the environment of every process."""
    first = plain(run.words[0]) if run.words else ""
    if re.fullmatch(r"[a-zA-Z]+", first) and "e" in first:
        run.ask("credential", "it would show the environment of programs, and secrets with it", "ps -ef")


def listed_files(run: Run) -> None:
    """`file -f list` shows what stands in the list."""
    listed = run.after("-f", "--files-from")
    if listed:
        note_read(run.machine, listed, run.scope)


def deep_search(run: Run) -> None:
    """A search through a whole home or through the system's settings meets credentials."""
    deep = run.name in {"rg", "ag", "ack"} or run.has("-r", "-R", "--recursive", "--dereference-recursive")
    for word in run.operands("-e -f -m -A -B -C --include --exclude --exclude-dir -g -t")[1:]:
        if deep and credential_tree(word, run.cwd):
            run.ask("credential", f"{plain(word)} holds credentials", "a folder further down")


LOOKS: dict[str, Look] = {
    **dict.fromkeys(("uniq", "xxd"), second_written),
    **dict.fromkeys(("let", "test", "[", "declare", "typeset", "local", "readonly", "export", "getopts"), arithmetic),
    **dict.fromkeys(("jq", "yq", "gojq", "jaq"), json_query),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"), deep_search),
    "file": listed_files,
    "ldd": loaded_libraries,
    "hash": remembered,
    "hostname": host_name,
    "arp": addresses,
    "ps": processes,
}

# The option of a builder behind which the file stands that it makes.
_MAKES = ("-o", "--output", "--out", "--out-file", "--outfile", "--output-file", "--report-file", "--output-path")
_COMPILERS = frozenset(names("gcc g++ cc c++ clang clang++ ar ranlib as nasm rustc javac ghc kotlinc ld"))
_TAKES_CODE = re.compile(r"exec:|run-script$|plugin:|-Dexec\.|-Drat\.")


def building(run: Run) -> None:
    """A program that works by the project's own settings: those of elsewhere may run anything."""
    for option in _MAKES:
        made = run.after(option)
        if made:
            note_write(run.machine, made, run.scope, mild=True)
    for word in run.words:
        bare = plain(word)
        if _TAKES_CODE.match(bare):
            run.ask("program:option", f"{run.name} {bare} would run another program")
        if run.name not in _COMPILERS and _elsewhere(run, bare.partition("=")[2] if bare.startswith("-") else bare):
            run.ask("outside", f"{run.name} would work by {bare}, which is outside the workspace")
    if run.scope.wrote:
        run.ask(
            "written-and-run",
            f"{run.name} may run a file that the same command wrote",
            "writing first, and running on its own",
        )


def _elsewhere(run: Run, word: str) -> bool:
    if not word.startswith(("/", "~", "../")) and word != "..":
        return False
    if word.startswith("//"):  # a target of a build
        return False
    return word.startswith("/tmp/") or not is_inside(word, run.cwd, run.machine.workspace)  # noqa: S108 - a name in a command
