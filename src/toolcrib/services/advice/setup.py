"""What is left to do before the house is of use: a list with the next step, read off what is there."""

from msgspec import Struct


class Step(Struct, frozen=True, kw_only=True):
    """One thing to do, and whether it is done."""

    id: str
    done: bool
    title: str
    about: str
    optional: bool = False


class State(Struct, frozen=True, kw_only=True):
    """What there is."""

    agents: int = 0
    with_tools: int = 0  # agents that were given a toolbox or tools
    calls: int = 0
    answered: int = 0  # approvals that a person has answered
    secrets: int = 0
    signed_in: bool = False
    trouble: str = ""  # of the store or the vault


def checklist(state: State) -> list[Step]:
    """The steps, in the order in which they make sense."""
    return [
        Step(
            id="agent",
            done=state.agents > 0,
            title="Make an agent",
            about="An agent is whoever calls tools: an assistant, a program, a bot.",
        ),
        Step(
            id="toolbox",
            done=state.with_tools > 0,
            title="Give it tools",
            about="Tick toolboxes on its Tools tab. You see at once what it would hold.",
        ),
        Step(
            id="call",
            done=state.calls > 0,
            title="Make a first call",
            about="Connect a client to the agent, or call a tool from its page, and see it on the record.",
        ),
        Step(
            id="approval",
            done=state.answered > 0,
            title="Answer an approval",
            about="Calls that a rule asks about wait for you. Try one: it can be allowed, changed or denied.",
            optional=True,
        ),
        Step(
            id="secret",
            done=state.secrets > 0,
            title="Keep a secret in the vault",
            about="Agents use it as {{secret:NAME}} and never see it.",
            optional=True,
        ),
        Step(
            id="sign-in",
            done=state.signed_in,
            title="Turn sign-in on",
            about="Whoever reaches the port can do everything while it is off. It is fine on your own machine only.",
            optional=True,
        ),
    ]
