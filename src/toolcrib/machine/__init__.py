"""The local machine behind ports of services: files below a root, processes, outgoing HTTP."""
