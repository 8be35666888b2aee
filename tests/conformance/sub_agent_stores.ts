/**
 * Agents with sub-agents, and the stores that record them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import type { SessionEntry } from "../../src/core/sessions/session_entry.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import {
  FileSessionStore,
  InMemorySessionStore,
  listSubAgents,
  SqliteSessionStore,
} from "../../src/memory/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import type { ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

/** Starts a sub-agent that looks around. */
export const explore = subAgentTool({
  name: "explore",
  description: "Looks around.",
  background: true,
  detached: true,
  maxDepth: 2,
});

interface StoreCase {
  readonly name: string;
  readonly create: (directory: string) => SessionStore & Partial<AsyncDisposable>;
}

const STORES: readonly StoreCase[] = [
  { name: "InMemorySessionStore", create: () => new InMemorySessionStore() },
  { name: "FileSessionStore", create: (directory) => new FileSessionStore({ directory }) },
  {
    name: "SqliteSessionStore",
    create: (directory) => new SqliteSessionStore({ path: `${directory}/db` }),
  },
];

/** Runs a test with every store. */
export function testStores(title: string, act: (store: SessionStore) => Promise<void>): void {
  for (const { name, create } of STORES) {
    Deno.test(`${title} (${name})`, async () => {
      const directory = await Deno.makeTempDir();
      const store = create(directory);
      try {
        await act(store);
      } finally {
        await store[Symbol.asyncDispose]?.();
        await Deno.remove(directory, { recursive: true });
      }
    });
  }
}

/** Answers an agent by its own script, and its sub-agents by another one. */
export function createStream(
  own: readonly ScriptedStep[],
  children: readonly ScriptedStep[],
): StreamFn {
  const ownStream = scriptedStream(own);
  const childStream = scriptedStream(children);
  return (request) =>
    JSON.stringify(request.context.messages[0]).includes("Look")
      ? childStream(request)
      : ownStream(request);
}

/** Creates an agent whose model answers it and its sub-agents by a script each. */
export function createAgent(
  own: readonly ScriptedStep[],
  children: readonly ScriptedStep[] = [],
  tools: readonly AgentTool[] = [explore],
): Agent {
  return new Agent({ model: "test/model", streamFn: createStream(own, children), tools });
}

/** Reads the path of a session. */
export async function readEntries(
  store: SessionStore,
  id: string,
): Promise<readonly SessionEntry[]> {
  await using session = await store.open(id, { access: "read" });
  return await session.path();
}

/** Returns the id of the session of the only sub-agent of a session. */
export async function findChild(store: SessionStore, parentId: string): Promise<string> {
  const [child, ...others] = await listSubAgents(store, parentId);
  assert(child);
  assertEquals(others, []);
  return child.id;
}

/** Selects the entries of a type. */
export function selectType<Type extends SessionEntry["type"]>(
  entries: readonly SessionEntry[],
  type: Type,
): Extract<SessionEntry, { type: Type }>[] {
  return entries.filter((entry): entry is Extract<SessionEntry, { type: Type }> =>
    entry.type === type
  );
}
