import { assertEquals, assertFalse } from "@std/assert";
import type { CreateSessionOptions } from "../../src/core/sessions/session.ts";
import type { SessionEntry } from "../../src/core/sessions/session_entry.ts";
import { FileSessionStore, openSession } from "../../src/memory/mod.ts";
import { assistantMessage } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { createAgent, selectType, testStores } from "./sub_agent_stores.ts";

testStores(
  "sub-agent sessions: the report of a session that a log names without being its sub-agent is not read",
  async (store) => {
    const secret = assistantMessage("a secret report");
    const link = { subAgentParentId: "own", subAgentCallId: "c1" };
    const others: readonly CreateSessionOptions[] = [
      { id: "conversation", tenant: "acme", user: "amy" },
      { id: "other tenant", tenant: "zoo", user: "amy", metadata: link },
      { id: "other user", tenant: "acme", user: "ben", metadata: link },
      { id: "other call", tenant: "acme", user: "amy", metadata: { ...link, subAgentCallId: "x" } },
    ];
    for (const options of others) {
      const other = await store.create(options);
      other.append({ type: "message", message: secret });
      other.append({ type: "run_ended", stopReason: "stop" });
      await other.close();
    }
    const spawned = others.map(({ id = "" }, number): SessionEntry => ({
      type: "sub_agent_spawned",
      ...{ subAgentId: id, sessionId: id, prompt: "p", mode: "detached", name: "n" },
      ...(number > 0 && { toolCallId: "c1" }),
      id,
      parentId: others[number - 1]?.id ?? null,
      timestamp: 1,
    }));
    const owner = { tenant: "acme", user: "amy" };
    await (await store.create({ id: "own", ...owner, entries: spawned })).close();
    const agent = createAgent([reply("I see")]);
    // Without an owner, the store has the sessions of all.
    await using session = await openSession(store, { id: "own" }, agent);
    await agent.prompt("What now?");
    const results = selectType(await session.session.path(), "sub_agent_result");
    assertEquals(results.map(({ status }) => status), Array(4).fill("interrupted"));
    assertFalse(JSON.stringify(agent.state.messages).includes("secret"));
  },
);

Deno.test("sub-agent sessions: a session can be resumed whatever the log of its sub-agent has", async () => {
  const directory = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  const link = { subAgentParentId: "own", subAgentCallId: "c1", subAgentPath: ["c1"] };
  const header = { type: "session", version: 1, id: "child", created: 1, metadata: link };
  const ends = [
    { error: { message: 5 } },
    { error: null, stoppedBy: { policy: "p", reason: {} } },
    { stopReason: "aborted", error: "text" },
  ];
  for (const [number, end] of ends.entries()) {
    const position = { id: "e1", parentId: null, timestamp: 1 };
    const lines = [header, { type: "run_ended", stopReason: "error", ...end, ...position }];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await Deno.writeTextFile(`${directory}/child${number}.jsonl`, text);
    const own = await store.create({ id: `own${number}` });
    const ids = { subAgentId: "child", sessionId: `child${number}`, toolCallId: "c1" };
    own.append({ type: "sub_agent_spawned", prompt: "p", ...ids });
    await own.close();
    await using session = await openSession(store, { id: `own${number}` }, createAgent([]));
    const [ended] = selectType(await session.session.path(), "sub_agent_result");
    const expected = number < 2 ? ["failed", "it failed"] : ["aborted", "it was aborted"];
    assertEquals([ended?.status, ended?.result], expected);
  }
  await Deno.remove(directory, { recursive: true });
});
