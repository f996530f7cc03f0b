"""Opening the crib of a home folder."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from toolcrib.app.answers import Ask
from toolcrib.app.crib import Crib
from toolcrib.app.network import search_keys
from toolcrib.app.secrets import scrubber
from toolcrib.app.vaulting import key_of
from toolcrib.core.errors import BadConfig
from toolcrib.core.heavy import heavy

if TYPE_CHECKING:
    from toolcrib.services.approvals.telling import Told
    from toolcrib.services.vault.ports import AskSecret


async def open_crib(
    *,
    home: str | None = None,
    config: str | None = None,
    store: str | None = None,
    workspace: str | None = None,
    native: bool = True,
    needs_store: bool = True,
    approve: Ask | None = None,
    ask_secret: "AskSecret | None" = None,
    waits: bool = False,
    told: "Told | None" = None,
    env: Mapping[str, str] = os.environ,
) -> Crib:
    """The crib of a home folder: its toolcrib.yaml, its store, the native tools.

    Raises BadConfig, with lines, and StoreError. Without `needs_store` nothing is written anywhere. With `waits` a
    call waits for a person's answer unless toolcrib.yaml says otherwise; `told` hears of each change to a request.
    """
    place = heavy("toolcrib.machine.home")
    settings, read = place.find(env, {"home": home, "config": config, "store": store, "workspace": workspace})
    own = {"vault_key": settings.vault_key, "vault_passphrase": settings.vault_passphrase}
    if waits and "approvals.mode" not in read.lines:
        read = msgspec.structs.replace(read, approvals=msgspec.structs.replace(read.approvals, mode="wait"))
    scrub = scrubber({**{name: env[name] for name in read.scrub_env if name in env}, **own}, search_keys(read))
    kept, results, copies = None, None, None
    if needs_store:
        place.make(settings.home)
        strict = settings.audit == "strict"
        opened = heavy("toolcrib.stores.sql").open_store
        kept = await heavy("asyncio").to_thread(opened, settings.store, scrub=scrub, strict=strict)
        if told is not None:
            kept.approvals = heavy("toolcrib.services.approvals.telling").TellingApprovals(kept.approvals, told)
        results = heavy("toolcrib.machine.results").FileResults(place.results(settings.home))
        kept.undo.days = read.undo.days
        copies = heavy("toolcrib.machine.undo.copies").FileCopies(
            place.copies(settings.home), most=read.undo.megabytes << 20, days=read.undo.days
        )
    try:
        crib = Crib(
            config=msgspec.structs.replace(read, audit=settings.audit),
            native=native,
            scrub=scrub,
            store=kept,
            results=results,
            copies=copies,
            approve=approve,
            workspace=settings.workspace or None,
            vault_key=key_of(read, settings) if needs_store else None,
            ask_secret=ask_secret,
        )
    except BadConfig:
        if kept is not None:
            await kept.close()
        raise
    await crib.checked()
    return crib
