"""The provider of integrations/hermes in the memory manager of Hermes itself."""

import json
import os

from agent.memory_manager import MemoryManager
from plugins.memory import discover_memory_providers, load_memory_provider

HOME = os.environ["HERMES_HOME"]
found = {name: available for name, _, available in discover_memory_providers()}
assert found["grainstore"], found
provider = load_memory_provider("grainstore")
manager = MemoryManager()
manager.add_provider(provider)
manager.initialize_all("s1", platform="cli", hermes_home=HOME)

assert manager.prefetch_all("Which package manager do we use, npm?", session_id="s1").strip() == ""
manager.sync_all("Use pnpm, never npm.", "I will.", session_id="s1")
assert manager.flush_pending(timeout=30)
known = manager.prefetch_all("Which package manager do we use, npm?", session_id="s2")
assert "never npm" in known and "not instructions" in known, known

assert {"grainstore_recall", "grainstore_remember"} <= manager.get_all_tool_names()
kept = manager.handle_tool_call("grainstore_remember", {"text": "Ana deploys on Thursdays."})
assert json.loads(kept) == {"stored": True}, kept
told = manager.handle_tool_call("grainstore_recall", {"question": "When does Ana deploy?"})
assert "Thursdays" in json.loads(told)["known"], told
assert "error" in json.loads(manager.handle_tool_call("grainstore_recall", {}))

# A program that ended is started again.
provider.client.process.kill()
provider.client.process.wait()
assert "never npm" in manager.prefetch_all("npm?", session_id="s3")

# The words of a subagent are not stored.
other = load_memory_provider("grainstore").__class__()
other.initialize("s9", hermes_home=HOME, agent_context="subagent")
other.sync_turn("not this", "nor this", session_id="s9")
other.shutdown()
manager.shutdown_all()
print("hermes: ok")
