"""The engines behind the guards: pure analysis that guards, tools, stores and the command line share."""
