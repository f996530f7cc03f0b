"""The family of tools that manage toolboxes."""

from toolcrib.core.tool import Family

family = Family(name="toolboxes", label="Toolboxes", about="List, make, change and delete toolboxes.", icon="package")
