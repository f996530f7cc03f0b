"""A crib inside somebody else's agent loop: `pydantic_ai`, `openai_agents`, `langchain`. Each needs its extra."""
