import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { resumeSession } from "../recording/resume.ts";
import { createMemoryStorage } from "../storage/memory_storage.ts";
import { storeFrom } from "../storage/store_from.ts";
import { forkSession } from "../transfer/fork.ts";
import { readEntries } from "./read_entries.ts";

/** Number of turns with a tool call. */
const TURNS = 400;

/** Creates a store with a long session of turns with tool calls, which counts the reads and the read lines. */
async function createLongSession() {
  const storage = createMemoryStorage();
  let reads = 0;
  let lines = 0;
  const store = storeFrom({
    append: (...args) => storage.append(...args),
    load: (id) => storage.load(id),
    readLines: (id, positions) => {
      reads++;
      lines += positions.length;
      return storage.readLines(id, positions);
    },
    list: (options) => storage.list(options),
    delete: (...args) => storage.delete(...args),
    lease: (...args) => storage.lease(...args),
    release: (...args) => storage.release(...args),
  });
  const session = await store.create({ id: "long" });
  const replyIds: string[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const call = toolCall("look", { turn }, { id: `call_${turn}` });
    session.append({ type: "message", message: userMessage(`Question ${turn}`, 1) });
    const { id } = session.append({ type: "message", message: assistantMessage([call]) });
    replyIds.push(id);
    const journal = { messageId: id, toolCallId: call.id, name: call.name };
    const content = [text(`Result ${turn}`)];
    session.append({ type: "tool_finished", ...journal, result: { content }, isError: false });
    session.append({ type: "message", message: toolResultMessage(call, content) });
  }
  await session.close();
  return {
    store,
    firstReplyId: replyIds[0] ?? "",
    countReads: () => reads,
    countLines: () => lines,
  };
}

Deno.test("forkSession() reads the rest of a long session in a few batches", async () => {
  const { store, firstReplyId, countReads } = await createLongSession();
  const fork = await forkSession(store, "long", { leaf: firstReplyId });
  const types = fork.outline.map(({ type }) => type);
  assertEquals(types, ["message", "message", "tool_finished", "leaf_moved"]);
  assert(countReads() < 20, `${countReads()} reads`);
  await fork.close();
});

Deno.test("resumeSession() reads the calls of an early reply in a few batches", async () => {
  const { store, firstReplyId, countReads } = await createLongSession();
  const { session, pendingCalls } = await resumeSession(store, "long", { leaf: firstReplyId });
  assertEquals(pendingCalls.map(({ type }) => type), ["finished"]);
  assert(countReads() < 20, `${countReads()} reads`);
  await session.close();
});

Deno.test("readEntries() does not read a long log for some of its last entries", async () => {
  const { store, countLines } = await createLongSession();
  await using session = await store.open("long", { access: "read" });
  const ids = session.outline.slice(-40).map(({ id }) => id);
  const entries = await readEntries(session, ids);
  assertEquals(entries.map(({ id }) => id), ids);
  assert(countLines() < 100, `${countLines()} lines`);
});
