"""The resolver: cold over 10,000 tools, and a cache hit; beside a naive scan over sets of names."""

from collections.abc import Iterator
from typing import Any

from toolcrib.core.policy import AgentRules, Grants, Policy, ProviderRules, SubAgentRules, Toolbox
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.core.schema import Signature
from toolcrib.core.tool import Tool, Traits
from toolcrib_bench.figures import Figure, best, figure


def run() -> Iterator[Figure]:
    """50 of 1,000 tools, and 500 of 10,000, through all ten steps."""
    for count in (1_000, 10_000):
        registry, grants = _world(count)
        boxed = {name: set(box.tools) for name, box in grants.toolboxes.items()}
        floor = best(lambda r=registry, b=boxed: _naive(r, b), 50, 5)
        seat = Seat(agent="a", depth=1, provider="p", group="g", only=("tool_*",))
        Resolver(registry, grants).view(seat)
        cold = best(lambda r=registry, g=grants, s=seat: Resolver(r, g).view(s).names, 20, 5)
        mask = best(lambda r=registry, g=grants, s=seat: Resolver(r, g).view(s).issued, 20, 5)
        yield figure("resolve", f"cold, {count:,} tools, with the list of names", cold * 1e6, "us", floor * 1e6)
        yield figure("resolve", f"cold, {count:,} tools, the mask", mask * 1e6, "us", floor * 1e6)
        views = Resolver(registry, grants).views
        views[seat]
        hit = best(lambda v=views, s=seat: v[s], 200_000, 7) - best(lambda s=seat: s, 200_000, 7)
        yield figure("resolve", f"cached, {count:,} tools", hit * 1e6, "us", floor * 1e6)


def _world(count: int) -> tuple[Registry, Grants]:
    async def body(**_: Any) -> None: ...

    arguments = Signature("none", {})
    sources = ("native", "native", "custom", "mcp")
    tools = [
        Tool(
            name=f"tool_{i}",
            domain=f"d{i % 20}",
            about="x",
            body=body,
            arguments=arguments,
            traits=Traits(),
            source=sources[i % 4],
            origin="srv" if i % 4 == 3 else "",
        )
        for i in range(count)
    ]
    names = [tool.name for tool in tools]
    box = Toolbox(name="box", tools=tuple(names[:: count // (count // 20)]))
    grants = Grants(
        floor=tuple(names[:16]),
        toolboxes={"box": box, "all": Toolbox(name="all", tools=("*",))},
        profiles={"most": ("tool_*",)},
        agents={"a": AgentRules(name="a", toolboxes=("box",), allow=("tool_*",), deny=tuple(names[5:10]))},
        policy=Policy(
            profile="most",
            allow=("*", "group:mcp"),
            deny=tuple(names[20:30]),
            also_allow=(names[25],),
            hard_deny=(names[40],),
            providers={"p": ProviderRules(allow=("tool_*",))},
            groups={"g": ("tool_*",)},
            sub_agents=SubAgentRules(excluded=tuple(names[50:60]), denied=tuple(names[60:65]), leaf=(names[66],)),
        ),
    )
    return Registry(tools), grants


def _naive(registry: Registry, boxed: dict[str, set[str]]) -> list[str]:
    """What one writes first: every tool against the box's set."""
    allowed = boxed["box"]
    return [tool.name for tool in registry.tools if tool.name in allowed]
