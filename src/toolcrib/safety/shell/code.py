"""Code in other languages, by its words: what is certainly harmless, what is never run, and the rest."""

import ast
import re

from toolcrib.safety.shell.names import names

_RUNS = re.compile(
    r"os\s*\.\s*(?:system|popen|exec|spawn|posix_spawn)|subprocess|pty\b|commands\.get|popen|child_process|execSync|spawnSync|"
    r"\bexec[lv]?[pe]?e?\s*[(\"' ]|\bsystem\s*[(\"' $]|\bqx\b|`[^`]+`|%x[\[({]|proc_open|shell_exec|passthru|pcntl_exec|"
    r"Open3|IO\.popen|Process\.spawn|os\.execute|io\.popen|Runtime\.getRuntime|ProcessBuilder|\bspawn\b|dup2|Kernel\.exec|"
    r"\|&|\beval\b|\bexec\b|Deno\.run|Deno\.Command|Bun\.spawn|invoke_shell|\|\s*getline|fork\b",
    re.IGNORECASE,
)
_FETCHES = re.compile(
    r"urllib|urlopen|requests\.|[\"']requests[\"']|httpx|http\.client|http\.request|https?\.get|\bfetch\(|LWP|open-uri|URI\.open|open\s*\(?\s*[\"']https?:|Net::HTTP|"
    r"file_get_contents\s*\(\s*[\"']https?:|curl_exec|axios|HTTP::Tiny|require\([\"']https?[\"']\)",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"socket|fsockopen|TCPSocket|IO::Socket|-MIO\b|net\.(?:connect|Socket|createConnection)|require\([\"']net[\"']\)|"
    r"/inet/tcp|UDPSocket|smtplib|ftplib|paramiko|websocket|stream_socket_client|Socket::INET|INET\(",
    re.IGNORECASE,
)
_REMOVES = re.compile(
    r"rmtree|unlink|os\.remove|removedirs|rmSync|rmdirSync|rimraf|rm_rf|rm_r\b|FileUtils\.rm|File\.delete|remove_tree|"
    r"shutil\.move|truncate|Dir\.rmdir|fs\.rm|os\.rename",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"open\s*\([^)]*,\s*(?:mode\s*=\s*)?[\"'][^\"']*[wax+]|write_text|write_bytes|writeFile|appendFile|createWriteStream|"
    r"file_put_contents|File\.(?:write|open)|os\.(?:chmod|chown|symlink|link)|shutil\.copy|fwrite|open\s*\(?\s*\w*\s*,?\s*[\"']>",
    re.IGNORECASE,
)
_DECODES = re.compile(
    r"b64decode|fromhex|base64|decode_base64|rot13|marshal|zlib|unpack|codecs|fromCharCode|atob", re.IGNORECASE
)
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`|%[qxQ]?[{(\[]([^})\]]*)[})\]]", re.DOTALL)
_BOMB = re.compile(
    r"fork\s*(?:\(\s*\))?\s+while|while\s*\(?\s*(?:1|True|true)\b[^\n]{0,80}fork|while\s*(?:\(?\s*(?:1|True|true)\s*\)?)\s*[:{]?\s*(?:os\.)?fork|fork\s*\{\s*exec"
)


class Seen:
    """What stands out in a text of code."""

    __slots__ = ("bomb", "decodes", "fetches", "literals", "removes", "runs", "sends", "writes")

    def __init__(self, text: str) -> None:
        text = text[:20_000]
        self.runs = _RUNS.search(text) is not None
        self.fetches = _FETCHES.search(text) is not None
        self.sends = _SENDS.search(text) is not None
        self.removes = _REMOVES.search(text) is not None
        self.writes = _WRITES.search(text) is not None
        self.decodes = _DECODES.search(text) is not None
        self.bomb = _BOMB.search(text) is not None
        found = _LITERAL.findall(text)[:64]
        self.literals = [next((part for part in parts if part), "") for parts in found]
        self.literals += [
            " ".join(self.literals[at:]) for at in range(min(len(self.literals), 4)) if len(self.literals) > 1
        ]


_MODULES = frozenset(
    names(
        "sys json re math datetime time calendar itertools functools collections string textwrap random",
        "statistics decimal fractions operator platform struct unicodedata hashlib uuid pprint typing enum",
        "dataclasses abc copy heapq bisect importlib.metadata sysconfig site struct locale html base64",
        "binascii secrets colorsys difflib inspect keyword token tokenize numpy pandas torch scipy sklearn",
        "django flask fastapi pydantic yaml toml tomllib requests setuptools pip pkg_resources matplotlib",
        "tensorflow jax sqlalchemy pytest click rich typer attrs msgspec PIL cv2 transformers toolcrib string",
        "zoneinfo",
    )
)
_CALLS = frozenset(
    names(
        "print len range sum min max sorted list dict set tuple str int float bool abs round repr type map",
        "filter zip enumerate any all hex oct bin chr ord divmod pow format reversed isinstance hash bytes",
        "hasattr id",
    )
)
_METHODS_BARRED = frozenset(
    names(
        "system popen load compile run call post put patch delete request urlopen import_module __import__",
        "exec_module write writelines to_csv to_pickle read_pickle savetxt save tofile dump open fromfile",
        "spawn fork kill exec execv modules settrace setprofile breakpointhook addaudithook excepthook",
        "_getframe _path displayhook load_module find_module memmap eval query ctypeslib DataSource f2py",
        "loadtxt genfromtxt read_csv read_json session main read_sql read_html read_xml read_table distutils",
        "testing hub package jit cpp_extension",
    )
)


def harmless_python(text: str) -> bool:
    """Whether a Python text only computes and prints."""
    if len(text) > 4000:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    reads = [node for node in nodes if isinstance(node, ast.Call) and _only_reads(node)]
    known = {id(one) for node in reads for one in (node, node.func)}
    return not any(map(_renames, nodes)) and all(id(node) in known or _fine(node) for node in nodes)


def _only_reads(call: ast.Call) -> bool:
    """`open("a file")` to read it, `json.load(...)`."""
    func = call.func
    if isinstance(func, ast.Attribute):
        return func.attr == "load" and isinstance(func.value, ast.Name) and func.value.id in _READERS
    told = [one.value if isinstance(one, ast.Constant) else None for one in call.args]
    return (
        isinstance(func, ast.Name)
        and func.id == "open"
        and bool(told)
        and isinstance(told[0], str)
        and told[1:] in ([], ["r"], ["rb"], ["rt"])
        and all(one.arg == "encoding" for one in call.keywords)
    )


_READERS = frozenset(("json", "tomllib"))


def _renames(node: ast.AST) -> bool:
    """Whether a name that is trusted is given to something else."""
    if isinstance(node, ast.ImportFrom):
        return any((alias.asname or alias.name) in _READERS for alias in node.names)
    if isinstance(node, ast.alias):
        return node.asname in _READERS
    return isinstance(node, ast.Name) and node.id in _READERS and not isinstance(node.ctx, ast.Load)


def _fine(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in _MODULES and not any(a.name in _METHODS_BARRED or a.name == "*" for a in node.names)
    if isinstance(node, ast.Attribute):
        public = not node.attr.startswith("_") or node.attr in {"__version__", "__file__", "__name__"}
        return public and node.attr not in _METHODS_BARRED
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) or (isinstance(node.func, ast.Name) and node.func.id in _CALLS)
    if isinstance(node, ast.Name):
        return not node.id.startswith("__") and node.id not in {
            "eval",
            "exec",
            "open",
            "compile",
            "getattr",
            "globals",
            "vars",
        }
    return not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Delete) or (
        isinstance(node, ast.FunctionDef) and not node.decorator_list
    )


_NODE = re.compile(
    r"(?:console\.log\()?(?:require\(['\"]\./(?:package|tsconfig|lerna|composer)\.json['\"]\)|process\.(?:versions?|arch|platform|uptime)|"
    r"[\w\s.+*/%()-]+|JSON\.stringify\([\w\s,.]+\)|['\"][\w\s.:!,-]*['\"])(?:\.[A-Za-z]\w*|\[['\"]?\w+['\"]?\])*\)?;?\s*"
)


def harmless_node(text: str) -> bool:
    """Whether a JavaScript text only shows a value."""
    return _NODE.fullmatch(text) is not None and not re.search(
        r"eval|Function|import|mainModule|binding|constructor|exit|kill|dlopen|\benv\b|argv|stdin", text
    )


_PERL = re.compile(
    r"(?:print\s+(?:if|unless)\s+)?(?:m?/[^/`$@(]*/|s/[^/`@]*/[^/`@]*/[gimx]*|y/[^/]*/[^/]*/|tr/[^/]*/[^/]*/[ds]*)(?:\s*;\s*)?(?:print)?;?"
)


_FIELDS = re.compile(
    r"print\s*(?:join\s*\(?\s*[\"'][^\"'$@`\\]{0,4}[\"']\s*,\s*)?(?:[\"']?[$@]F?(?:\[-?\d+(?:,\s*-?\d+|\.\.-?\d+)*\]|_|\.)[\"']?(?:\s*,\s*|\s*\.\s*)?)+\)?"
    r"(?:\s*(?:if|unless)\s+(?:/[^/`$@(]*/|\$\.\s*[<>=!]=?\s*\d+))?;?"
)


_PHP = re.compile(
    r"(?:(?:echo|print)\s+(?:[A-Z][A-Z_]+|phpversion\(\)|'[^'$`]*'|\"[^\"$`{]*\")(?:\s*\.\s*(?:[A-Z][A-Z_]+|'[^'$`]*'|\"[^\"$`{]*\"))*\s*;?\s*|phpinfo\(\);?)"
)


def harmless_php(text: str) -> bool:
    """A PHP text that only shows a constant."""
    return _PHP.fullmatch(text.strip()) is not None


def harmless_perl(text: str) -> bool:
    """A single match or replacement, without code in it."""
    text = text.strip()
    return (_PERL.fullmatch(text) or _FIELDS.fullmatch(text)) is not None and "(?{" not in text and "(??{" not in text
