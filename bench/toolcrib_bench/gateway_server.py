"""A whole server as `toolcrib up` starts it, with a key made beforehand. `python -m toolcrib_bench.gateway_server HOME PORT`.

It prints the key, as a line of JSON, when it answers.
"""

import json
import sys

import uvloop

from toolcrib.app.house import open_house
from toolcrib.faces.serving import running
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import Person


async def serve(home: str, port: str) -> None:
    async with await open_house(home=home, port=port) as house:
        ada = await house.people.persons.add(Person(id="", name="Ada", role=Role.ADMIN))
        key = await house.people.keys.make(name="bench", person=ada.id, role=Role.OPERATOR, scopes=["mcp"])
        taken = running.listening("127.0.0.1", int(port))

        def ready(_: str) -> None:
            print(json.dumps({"key": key.secret}), flush=True)

        await running.serve(house, taken, ready=ready)


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], sys.argv[2]))
