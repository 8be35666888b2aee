import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { assistantMessage, text, thinking, toolCall } from "../../testing/messages.ts";
import { encodeEntry } from "../store/jsonl.ts";
import { toIndexText } from "./index_words.ts";
import { MEMORY_PATH, openDatabase } from "./sqlite_database.ts";
import { createTables, getStoredText } from "./sqlite_tables.ts";

const call = toolCall("bash", { command: "ls" }, { id: "c" });
const journal = { messageId: "m", toolCallId: "c", name: "bash" };
const result = { content: [text("a.ts"), { type: "image", source: { type: "file", path: "p" } }] };

/** Entries, and the texts whose words the index of version 6 has for them. */
const TEXTS: readonly (readonly [SessionEntryBody, string])[] = [
  [{ type: "message", message: userMessage("Where is it?", 1) }, "Where is it?"],
  [
    { type: "message", message: assistantMessage([thinking("hm"), text("I look."), call]) },
    'I look.\nbash {"command":"ls"}',
  ],
  [
    { type: "message", message: { role: "custom", type: "note", data: { a: [1] }, timestamp: 1 } },
    '{"a":[1]}',
  ],
  [{ type: "sub_agent_message", path: ["c"], message: assistantMessage("sub") }, "sub"],
  [{ type: "tool_finished", ...journal, result, isError: false } as SessionEntryBody, "a.ts"],
  [
    {
      type: "compaction",
      firstDroppedId: null,
      lastDroppedId: null,
      droppedCount: 1,
      tokensBefore: 1,
      tokensAfter: 1,
      summary: "The goal",
    },
    "The goal",
  ],
  [{ type: "sub_agent_spawned", subAgentId: "s", prompt: "look" }, "look"],
  [{ type: "sub_agent_result", subAgentId: "s", result: "found", isError: false }, "found"],
  [{ type: "plan_created", plan: "# Plan", steps: ["one"] }, "# Plan"],
  [{ type: "plan_step", step: 0, state: "complete", note: "done" }, "done"],
  [{ type: "label", targetId: "m", label: "start" }, "start"],
  [{ type: "title", title: "Title" }, "Title"],
  [{ type: "custom", name: "app", data: { b: 2 } }, 'app {"b":2}'],
  [{ type: "system_prompt_changed", systemPrompt: "secret" }, ""],
  [{ type: "opaque", record: { type: "later", text: "unknown" } }, ""],
];

Deno.test("createTables(): a change of the search texts needs a new version of the tables", async () => {
  const database = await openDatabase(MEMORY_PATH, createTables);
  // The index is updated with the texts of the entries. If they change, an upgrade has to build it again.
  assertEquals(database.prepare("PRAGMA user_version").get(), { user_version: 6 });
  database.close();
  const position = { id: "e", parentId: null, timestamp: 1 };
  for (const [body, expected] of TEXTS) {
    assertEquals(getStoredText(encodeEntry({ ...body, ...position })), toIndexText(expected));
  }
});
