"""The web page: what a person would rather see than type. Rendered here, with htmx for what changes while one looks."""

from toolcrib.faces.web.routes import routes

__all__ = ["routes"]
