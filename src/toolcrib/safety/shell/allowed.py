"""The programs that run without a question, and the options with which they do not.

Each row holds names and the options that take the permission away: `-o` also within a cluster of letters, `--long`
also cut short or with a value, `-word` as it stands.
"""

import re

from toolcrib.safety.shell.marks import LOOSE, plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Run, is_option

_READERS = (
    ("true false : pwd whoami id groups tty nproc arch uptime users logname hostid sync sleep wait times jobs", ""),
    ("echo printf expr seq factor yes numfmt cal ncal getconf locale uname lsb_release sw_vers ver test [ which", ""),
    ("cat tac head tail wc nl rev cut paste join comm fold fmt expand unexpand tr column colrm look zcat bzcat", ""),
    (
        "xzcat zstdcat lz4cat zipinfo zless base32 base64 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        "",
    ),
    (
        "fc-list tput cksum sum md5 shasum crc32 strings od hexdump hd size nm objdump readelf cmp tsort pr ldd rot13",
        "",
    ),
    ("ls dir vdir lsd stat realpath readlink basename dirname namei du df lsblk findmnt lsattr getfacl pathchk", ""),
    ("exa eza whereis whatis apropos type hash egrep fgrep grep zgrep pgrep pidof tldr", ""),
    ("diff colordiff diff3 sdiff tree", "-o --output --to-file"),
    ("file", "-C --compile"),
    ("help info man", "-P -H --pager --html -B --browser -o --output"),
    ("less zless more most bat batcat", "-o -O -k --log-file --lesskey-file --lesskey-src --pager +"),
    ("ack ag", "--pager --pager-cmd"),
    ("rg", "--pre --hostname-bin"),
    ("sort", "-o --output --compress-program -T --temporary-directory --files0-from"),
    ("shuf", "-o --output"),
    ("uniq", ""),
    ("xxd", "-r -revert"),
    ("ps pstree free vmstat iostat mpstat lscpu lsmem lspci lsusb lsmod lsof ss netstat w last lastlog lslocks", ""),
    ("sensors who numastat lsns lsipc getent lslogins pmap nvidia-smi procinfo arp", "-F"),
    ("pidstat", "-e"),
    ("top htop", ""),
    ("date", "-s --set"),
    ("hostname", "-F --file -b"),
    ("dmesg", "-c -C -n -D -E -H -w --human --clear --read-clear --console-level --console-off"),
    ("journalctl", "--rotate --vacuum-size --vacuum-time --vacuum-files --flush --relinquish-var --setup-keys"),
    ("printenv cd pushd popd dirs shift return exit break continue local getopts read readarray mapfile readonly", ""),
    ("declare export typeset let umask ulimit bg fg disown compgen shopt }", ""),
    ("jq", "-f --from-file -L"),
    ("yq", "-i --inplace --in-place -f --from-file -s --split-exp"),
    ("xmllint", "--output --shell -o"),
    ("csvcut csvgrep csvlook csvstat csvsort gron jless tokei cloc scc ncdu duf dust column", "-o --output"),
    ("nslookup dig host ping ping6 traceroute tracepath whois mtr", "-f -k -p"),
    ("mktemp touch mkdir", ""),
)

_DEVELOPING = (
    (
        "pytest py.test tox nox pre-commit coverage ctest",
        "-p --rootdir --override-ini -o -c --confcutdir --config -S -SP --build-and-test --test-command",
    ),
    (
        "ruff flake8 pylint mypy pyright basedpyright pyflakes pycodestyle pydocstyle bandit vulture black isort djlint",
        "",
    ),
    ("autopep8 yapf gofmt goimports rustfmt shfmt clang-format taplo dprint swiftformat ktlint", ""),
    (
        "shellcheck hadolint actionlint yamllint markdownlint markdownlint-cli2 textlint cspell codespell clang-tidy cppcheck",
        "-load",
    ),
    ("golangci-lint staticcheck govulncheck checkstyle detekt swiftlint phpcs phpstan psalm reuse interrogate", ""),
    ("prettier eslint stylelint tslint biome oxlint standard xo", "--rulesdir --resolve-plugins-relative-to --plugin"),
    ("jest mocha vitest ava tap nyc c8 karma cypress playwright phpunit pest rspec jasmine wtr qunit", "--globalSetup"),
    ("tsc tsd swc babel webpack rollup vite esbuild parcel turbo nx lerna next nuxt astro svelte-kit svelte-check", ""),
    ("gatsby ng vue-cli-service react-scripts tsup unbuild microbundle ncc size-limit bundlesize attw publint", ""),
    (
        "typedoc jsdoc docusaurus vitepress sphinx-build mkdocs sass postcss tailwindcss vue-tsc stencil knip depcheck",
        "",
    ),
    ("madge commitlint lint-staged npm-run-all run-s run-p license-checker api-extractor", ""),
    (
        "gcc g++ cc c++ clang clang++ javac kotlinc ghc ar ranlib as nasm",
        "-wrapper -fplugin -B -specs -Xclang -load -e -script -F -pgmF -ghci-script",
    ),
    ("rustc", "-C --codegen"),
    ("ninja meson msbuild nunit rebar3", "--eval"),
    ("gradle gradlew mvn mvnw", "-I --init-script -b --build-file -p --project-dir -f --file -s -gs --settings"),
    ("wasm-pack trunk cargo-nextest gettext msgfmt xgettext protoc sqlfluff", "--plugin"),
    ("cmake", "-P -E -C --install"),
    ("make gmake", "--eval -E -f --file --makefile -C --directory -I --include-dir"),
    ("rake just task mage grunt gulp bazelisk", "-e -E -p --execute -r -f --file -c"),
)

_NAMES_ONLY = frozenset(
    names(
        "ls dir vdir lsd exa eza tree stat test [ du df file find fd fdfind cd pushd echo printf mkdir touch",
        "which type git chmod chown chgrp realpath readlink basename dirname namei lsattr getfacl expr help",
        "man alias export declare readonly local typeset read unset set shopt ssh-keygen kill rm npm yarn",
        "pnpm cargo pip pip3 docker kubectl ln ssh-add sudo env systemctl pgrep ps sleep exit return",
    )
)
_PATTERN_FIRST = frozenset(
    ["grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "zgrep", "perl", "jq", "yq", "tr"]
)


def _table(rows: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(barred.split()) for names, barred in rows for name in names.split()}


ALLOWED = _table(_READERS) | _table(_DEVELOPING)
BUILDERS = frozenset(_table(_DEVELOPING)) | {"npm", "yarn", "pnpm", "cargo", "go", "python", "python3", "node", "pip"}


_REST = {"date": "Idrf", "sort": "kt"}  # letters behind which the rest of a word is a value
_PLACE = re.compile(r"\+{1,2}(?:[FGg]|[0-9]+[gGp%]?)\Z")  # where a pager begins


def names_only(name: str) -> bool:
    """Whether the program's words are no files that it shows."""
    return name in _NAMES_ONLY


def pattern_first(name: str) -> bool:
    """Whether the program's first operand is a pattern and no file."""
    return name in _PATTERN_FIRST


# Programs whose options of more than one letter are words: no letter inside of them is an option.
_WORDY = frozenset(names("gcc g++ cc c++ clang clang++ javac ghc nasm mvn mvnw gradle gradlew"))


def _cluster(name: str, word: str) -> str:
    """An option word without the value that stands right behind its letter."""
    if (
        name in _WORDY
        and len(word) > 2
        and word[1] != "-"
        and not any(word == o or word.startswith(o + "=") for o in ALLOWED[name])
    ):
        return word[:2]
    rest = _REST.get(name)
    if rest is None or word.startswith("--"):
        return word
    end = next((at + 1 for at, letter in enumerate(word) if letter in rest), len(word))
    return word[:end]


def permitted(run: Run) -> str:
    """Nothing if the table lets the command run; otherwise what it would have to do without."""
    barred = ALLOWED.get(run.name)
    if barred is None:
        return "the program itself"
    for word in run.words:
        if word[:1] in {"-", "+"}:
            if word == "--":
                break
            bare = _cluster(run.name, plain(word))
            for option in barred:
                if is_option(bare, option) or (option == "+" and _PLACE.match(bare) is None and bare[:1] == "+"):
                    return option
    if barred and run.words and run.words[0] == LOOSE:
        return "words that are not known before it runs"
    return ""
