"""Where things are: addresses that hold names which people made up."""

from urllib.parse import quote, urlencode


def agent_link(name: str, tab: str = "") -> str:
    """The page of an agent."""
    return f"/agents/{quote(name, safe='')}" + (f"/{tab}" if tab else "")


def toolbox_link(name: str, tab: str = "") -> str:
    """The page of a toolbox."""
    return f"/toolboxes/{quote(name, safe='')}" + (f"/{tab}" if tab else "")


def tool_link(name: str) -> str:
    """The page of a tool."""
    return f"/tools/{quote(name, safe='')}"


def why_link(agent: str, tool: str) -> str:
    """Why an agent holds a tool, or does not."""
    return "/explain?" + urlencode({"agent": agent, "tool": tool})


def call_link(call: str) -> str:
    """One call of the record."""
    return f"/record/{quote(call, safe='')}"


LINKS = {one.__name__: one for one in (agent_link, toolbox_link, tool_link, why_link, call_link)}
