"""The programs that run without a question, and the arguments with which they do not.

A line holds names, then what takes the permission away: `!-o` an option (a letter in any cluster, `!--long` also cut
short), `!=word` that word as first operand. `~` before the names: operands are files that are written.
"""

import re

from toolcrib.safety.shell.marks import LOOSE, plain
from toolcrib.safety.shell.run import Run, is_option

_TABLE = """
: true false pwd whoami id groups tty nproc arch uptime users logname hostid sync sleep wait times jobs
echo printf seq expr factor yes numfmt cal ncal getconf locale uname lsb_release sw_vers ver
cat tac head tail wc nl rev cut paste join comm fold fmt expand unexpand tr column colrm pr tsort look zcat bzcat
xzcat zstdcat lz4cat zless zmore base32 base64 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum
md5 shasum crc32 strings od hexdump hd size nm objdump readelf cmp diff3 sdiff !--output !-o !--files0-from
diff colordiff delta !--output !--to-file
ls dir vdir lsd stat file realpath readlink basename dirname namei du df lsblk findmnt lsattr getfacl pathchk
exa eza tree !-o !--output
test [ which whereis whatis apropos type hash command_not_found man info tldr help !-P !-H !--pager !--html !-B
!--browser
more less zless most bat batcat !--pager !-o !-O !-k !--lesskey-file !--log-file !--lesskey-src !--LOG-FILE
grep egrep fgrep zgrep pgrep pidof agrep ack ag !--pager !-O !--pager-cmd
rg !--pre !--hostname-bin !--search-zip-with
sort !-o !--output !--compress-program !-T !--temporary-directory !--files0-from
shuf !-o !--output
uniq
xxd !-r !--revert
ps pstree free vmstat iostat mpstat lscpu lsmem lspci lsusb lsmod lsof ss netstat w last lastlog uptime top htop
procinfo pmap nvidia-smi sensors who numastat lsns lsipc getent lslocks lslogins sar pidstat !-F !-w
date !-s !--set
hostname !-F !--file !-b
dmesg !-c !-C !-n !-D !-E !--clear !--read-clear !--console-level
journalctl !--rotate !--vacuum-size !--vacuum-time !--vacuum-files !--flush !--relinquish-var !--sync !--setup-keys
!--update-catalog
ip !=set !=add !=del !=netns !=link !-b !-batch !--batch !-n !--netns
ifconfig route arp
env_ printenv set_ locale timedatectl_
cd pushd popd dirs shift return exit break continue local getopts read readarray mapfile readonly export typeset
declare let umask ulimit fc_ bg fg disown compgen shopt set suspend_ unset
jq !-f !--from-file !-L
yq !-i !--inplace !-f !--from-file
xmllint !--output !--shell !-o
xmlstarlet !=ed
csvcut csvgrep csvlook csvstat csvsort csvjson in2csv mlr_ dasel_ gron fx_ jless
tokei cloc scc wc ncdu duf dust hyperfine_ !-o !--output !--export !-O !--report-file !--script-lang !--config
which command -v
gofmt rustfmt black isort autopep8 yapf prettier eslint stylelint tslint biome oxlint standard xo ruff flake8 pylint
mypy pyright basedpyright pyflakes pycodestyle pydocstyle bandit vulture djlint tox nox pre-commit pytest py.test
coverage ctest shellcheck shfmt hadolint yamllint markdownlint markdownlint-cli2 textlint cspell codespell taplo
clang-format clang-tidy cppcheck golangci-lint staticcheck govulncheck goimports checkstyle ktlint detekt rubocop
swiftlint swiftformat phpcs phpstan psalm phpunit pest rspec jest mocha vitest ava tap nyc c8 karma cypress playwright
tsc tsd swc babel webpack rollup vite esbuild parcel turbo nx lerna rimraf_ next nuxt astro svelte-kit svelte-check
gatsby ng vue-cli-service react-scripts expo tsup unbuild microbundle ncc pkg_ size-limit bundlesize attw publint
typedoc jsdoc docusaurus vitepress storybook sphinx-build mkdocs cargo-nextest trunk wasm-pack dune_ mix rebar3 stack
cabal zig_ dart flutter msbuild nunit sbt lein bazel_ buck_ pants_ meson ninja cmake_ gradle mvn sass postcss tailwindcss
concurrently_ npm-run-all run-s run-p commitlint husky_ lint-staged semantic-release_ changeset_ api-extractor knip
depcheck madge dpdm license-checker autocannon_ loadtest tsx_ ts-node_ vue-tsc dprint web-ext stencil dtslint tslib
!--config-eval !--exec !--eval !--require-eval !-p=exec !--rulesdir !--resolve-plugins-relative-to !--load-plugins
!--init-hook !--plugin !--override-ini !--rootdir= !--globalSetup !--shell-escape !--load !--rcfile
gcc g++ cc c++ clang clang++ rustc javac kotlinc ghc tcc_ ld ar ranlib strip as nasm !-wrapper !-fplugin !-B
!-specs !-Xclang !-load !--ld-path !-fuse-ld !-C !--codegen !-F !-plugin !-J !-XPlugin !-processorpath !-pgmF !-o=/
"""

_WRITERS = """
touch mkdir mktemp truncate_ split csplit gzip bzip2 xz zstd gunzip bunzip2 unxz unzstd !--filter !-I
!--use-compress-program !-S
"""


def _read(table: str) -> "dict[str, tuple[tuple[str, ...], tuple[str, ...]]]":
    """A block begins with names and ends with its own options, which may go on in lines that hold nothing else."""
    out: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    names: list[str] = []
    barred: list[str] = []
    for line in table.strip().splitlines():
        for word in line.split():
            if word.startswith("!"):
                barred.append(word[1:])
                continue
            if barred:
                out |= _entries(names, barred)
                names, barred = [], []
            names.append(word)
    return out | _entries(names, barred)


def _entries(names: list[str], barred: list[str]) -> "dict[str, tuple[tuple[str, ...], tuple[str, ...]]]":
    options = tuple(word for word in barred if not word.startswith("="))
    words = tuple(word[1:] for word in barred if word.startswith("="))
    return {name: (options, words) for name in names if not name.endswith("_")}
