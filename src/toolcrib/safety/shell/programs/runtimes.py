"""Tools of languages that are one program with many verbs: building and testing are free, the rest is asked about."""

from toolcrib.safety.shell.marks import plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.programs.reading import building
from toolcrib.safety.shell.run import Handle, Run

_FREE: dict[str, tuple[str, ...]] = {
    "dotnet": names(
        "build test restore clean format list watch run pack msbuild help sln reference --info --list-sdks"
    ),
    "sbt": names("compile test clean update scalafmt scalafmtCheck scalafmtAll doc package run testOnly"),
    "lein": names("test check compile deps classpath version help uberjar jar run clean"),
    "mix": names("test compile format credo dialyzer deps.get deps.compile deps docs help hex.outdated xref clean"),
    "stack": names("build test bench haddock path ls clean hoogle --version"),
    "cabal": names("build test bench haddock check list info outdated clean update --version"),
    "dart": names("analyze format test fix doc compile info pub --version"),
    "flutter": names("analyze test doctor build format devices pub --version"),
    "swift": names("build test package format --version"),
    "xcodebuild": names("build test -list -showsdks -version"),
    "bazel": names("build test query cquery aquery info version help run coverage clean"),
    "zig": names("build test fmt version targets env"),
    "nim": names("check c compile doc --version"),
    "crystal": names("spec build tool docs env --version"),
    "elm": names("make test diff"),
    "gleam": names("build test check format run"),
    "buf": names("build lint breaking format generate ls-files"),
    "terragrunt": names("plan validate output"),
}
_INLINE = ("-e", "--eval", "-c", "--exec", "--execute", "-r", "--require")


def verbs(run: Run) -> str | None:
    """Looks at the first word that is no option."""
    free = _FREE[run.name]
    verb = next((plain(word) for word in run.words if not word.startswith(("-", "+"))), "")
    first = plain(run.words[0]) if run.words else ""
    if verb not in free and first not in free:
        run.ask(
            f"program:{run.name} {verb}"[:60], f"{run.name} {verb} runs, installs or changes more than a build does"
        )
    inner = run.words[run.words.index("exec") + 1 :] if "exec" in run.words else []
    if inner:
        return run.again(inner[1:] if inner[0] == "--" else inner)
    if run.has(*_INLINE):
        run.ask("program:option", f"{run.name} would run a text from the command line")
    building(run)
    return None


HANDLES: dict[str, Handle] = dict.fromkeys(_FREE, verbs)
