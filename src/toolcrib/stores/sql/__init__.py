"""The store on disk: SQLite or PostgreSQL, by URL. Importing it imports SQLAlchemy, so it is opened late."""

from toolcrib.stores.sql.opening import SqlStore, open_store

__all__ = ["SqlStore", "open_store"]
