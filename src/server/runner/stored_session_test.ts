import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { InMemorySessionStore } from "../../memory/mod.ts";
import { HANDED_OVER, readStoredActivity } from "./stored_session.ts";

const place = { id: "call", parentId: null, timestamp: 1 };

const started: SessionEntry = {
  type: "tool_started",
  messageId: "lost",
  toolCallId: "c",
  name: "count",
  arguments: {},
  sideEffect: "none",
  idempotencyKey: "r:c",
  ...place,
};

const handedOver: SessionEntry = {
  ...{ type: "custom", name: HANDED_OVER, data: {} },
  ...{ ...place, id: "stop", parentId: "call" },
};

const prompt: SessionEntry = {
  ...{ type: "message", message: { ...userMessage("Hi", 1), id: "m" } },
  ...{ ...place, id: "prompt", parentId: "call" },
};

async function readStatus(entries: readonly SessionEntry[]): Promise<string> {
  await using session = await new InMemorySessionStore().create({ id: "s", entries });
  return (await readStoredActivity(session)).status;
}

Deno.test("readStoredActivity(): a session is not interrupted if its log has lost the messages that need a reply", async () => {
  assertEquals(await readStatus([started]), "idle");
  assertEquals(await readStatus([started, handedOver]), "idle");
  assertEquals(await readStatus([started, prompt]), "interrupted");
});
