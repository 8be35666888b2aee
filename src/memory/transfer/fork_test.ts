import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { assistantMessage, text, toolCall } from "../../testing/messages.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { createLinkedOptions, listWithoutSubAgents } from "../store/sub_agent_link.ts";
import { forkSession } from "./fork.ts";

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

Deno.test("forkSession() copies the path to a leaf, also while the session is open elsewhere", async () => {
  const store = new InMemorySessionStore();
  const source = await store.create({ id: "source", cwd: "/work" });
  const [one, two] = [
    source.append(createMessageEntry("one")),
    source.append(createMessageEntry("two")),
  ];
  await source.flush();
  const complete = await forkSession(store, "source", { id: "complete" });
  assertEquals(await complete.path(), [one, two]);
  const part = await forkSession(store, "source", { leaf: one.id });
  part.append(createMessageEntry("three"));
  assertEquals(part.header.parent, { sessionId: "source", entryId: one.id });
  assertEquals(part.header.cwd, "/work");
  assertEquals((await part.path()).length, 2);
  assertEquals((await source.path()).length, 2);
  const empty = await forkSession(store, "source", { leaf: null });
  assertEquals(await empty.path(), []);
  await assertRejects(() => forkSession(store, "source", { leaf: "nowhere" }), SessionError);
  await assertRejects(() => forkSession(store, "nothing"), SessionError);
});

Deno.test("forkSession() copies the tool journal of its calls on other branches", async () => {
  const store = new InMemorySessionStore();
  const source = await store.create({ id: "source" });
  const call = toolCall("pay", {}, { id: "call_1" });
  const request = source.append({ type: "message", message: assistantMessage([call]) });
  const journal = { messageId: request.id, toolCallId: "call_1", name: "pay" };
  const once = { arguments: {}, sideEffect: "once", idempotencyKey: "k" } as const;
  source.append({ type: "tool_started", ...journal, ...once });
  source.append({
    type: "tool_finished",
    ...journal,
    result: { content: [text("paid")] },
    isError: false,
  });
  await source.flush();
  const fork = await forkSession(store, "source", { leaf: request.id });
  assertEquals((await fork.path({ types: ["message"] })).map(({ id }) => id), [request.id]);
  assertEquals(fork.outline.map(({ type }) => type), [
    "message",
    "tool_started",
    "tool_finished",
    "leaf_moved",
  ]);
  // Entries of another branch keep none of its entries as their parents.
  assertEquals(fork.outline.slice(1).map(({ parentId }) => parentId), Array(3).fill(request.id));
});

Deno.test("forkSession() of the session of a sub-agent creates one of its own, which is not deleted with the parent", async () => {
  const store = new InMemorySessionStore();
  await using parent = await store.create({ id: "parent", metadata: { plan: "pro" } });
  parent.append(createMessageEntry("Start it."));
  const child = await store.create({ ...createLinkedOptions(parent.header, "call"), id: "child" });
  child.append(createMessageEntry("work"));
  await child.close();
  const fork = await forkSession(store, "child", { id: "fork" });
  assertEquals(fork.header.metadata, { plan: "pro" });
  await fork.close();
  await parent.close();
  assertEquals((await listWithoutSubAgents(store)).map(({ id }) => id).sort(), ["fork", "parent"]);
  await store.delete("parent");
  assertEquals((await store.list()).map(({ id }) => id), ["fork"]);
});
