"""Reads a PDF from standard input and writes its text, page by page, as JSON. A program of its own: see pdf.py."""

import io
import json
import resource
import sys

import pypdf
from pypdf.errors import PyPdfError

SECONDS = 20
BYTES_OF_MEMORY = 1 << 30
CHARACTERS = 8_000_000


def main() -> int:
    """Bind oneself first: a hostile PDF must hurt nothing but this process."""
    data = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_MEMORY, BYTES_OF_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    pages: list[str] = []
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return say(error="it is protected by a password")
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > CHARACTERS:
                return say(error=f"it has more than {CHARACTERS:,} characters of text")
    except MemoryError:
        return say(error="reading it takes too much memory")
    except (
        PyPdfError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
    ) as bad:
        return say(error=f"it is damaged ({type(bad).__name__})")
    return say(pages=pages)


def say(**answer: object) -> int:
    """Write the answer."""
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
