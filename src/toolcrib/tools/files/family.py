"""The files family."""

from toolcrib.core.tool import Family

family = Family(
    name="files",
    label="Files",
    about="Read, write, edit, list and search the files of the workspace.",
    icon="folder",
)
