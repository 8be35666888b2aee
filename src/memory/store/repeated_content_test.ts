import { assert, assertEquals } from "@std/assert";
import type { ImageBlock } from "../../core/messages/content.ts";
import { type UserMessage, userMessage } from "../../core/messages/message.ts";
import type { SessionEntry, SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { text, toolResultMessage } from "../../testing/messages.ts";
import { EntryEncoder } from "./entry_encoder.ts";
import { decodeLine, decodeSearchable } from "./jsonl.ts";
import { restoreLines } from "./restore_lines.ts";
import { getSearchText } from "./search.ts";

/** Encodes entries as a session does, and decodes their lines. */
class Log {
  readonly encoder = new EntryEncoder("s");
  readonly entries: SessionEntry[] = [];
  readonly lines: string[] = [];

  append(body: SessionEntryBody): SessionEntry {
    const parentId = this.entries.at(-1)?.id ?? null;
    const id = `e${this.entries.length}`;
    const { entry, line } = this.encoder.encode({ ...body, id, parentId, timestamp: 1 });
    this.entries.push(entry);
    this.lines.push(line);
    return entry;
  }

  /** Restores the entries at some positions; the others have to be fetched. */
  async restore(...positions: number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const decode = (position: number) => decodeLine(this.lines[position] ?? "");
    return await restoreLines(positions.map(decode), (ids) =>
      Promise.resolve(
        ids.map((id) => decode(this.entries.findIndex((entry) => entry.id === id))),
      ));
  }

  async assertRestored(): Promise<void> {
    assertEquals(await this.restore(...this.entries.keys()), this.entries);
    for (const [position, entry] of this.entries.entries()) {
      assertEquals(await this.restore(position), [entry]);
    }
  }
}

function createImage(data: string): ImageBlock {
  return { type: "image", source: { type: "base64", mediaType: "image/png", data } };
}

function createMessage(content: UserMessage["content"]): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

function createQueueEntry(texts: readonly string[]): SessionEntryBody {
  const followUp = texts.map((content, index) => ({
    id: `q${index}`,
    message: userMessage(content, 1),
  }));
  return { type: "queue_changed", queued: { steering: [], followUp } };
}

const PICTURE = "A".repeat(5_000);

Deno.test("EntryEncoder: stores each queued message once while it is queued", async () => {
  const log = new Log();
  const texts = Array.from({ length: 20 }, (_, number) => `${number} ${"x".repeat(10_000)}`);
  for (let count = 1; count <= 20; count++) log.append(createQueueEntry(texts.slice(0, count)));
  const bytes = log.lines.join("").length;
  assert(bytes < 20 * 11_000, `${bytes} bytes for 200 KB of messages`);
  await log.assertRestored();
});

Deno.test("EntryEncoder: stores a result again that differs from the journal in its content or in isError", async () => {
  const log = new Log();
  const result = [text("out")];
  const call = { id: "c", name: "t" };
  const variants = [
    toolResultMessage(call, result),
    { ...toolResultMessage(call, result), isError: true },
    toolResultMessage(call, [text("other")]),
  ];
  for (const message of variants) {
    const journal = { messageId: null, toolCallId: "c", name: "t", isError: false };
    log.append({ type: "tool_finished", ...journal, result: { content: result } });
    log.append({ type: "message", message });
  }
  const isReference = log.lines.map((line) => line.includes("contentFrom"));
  assertEquals(isReference, [false, true, false, false, false, false]);
  await log.assertRestored();
});

Deno.test("EntryEncoder: stores a queued message again when its id has another message", async () => {
  const log = new Log();
  log.append(createQueueEntry(["one"]));
  log.append(createQueueEntry(["two"]));
  log.append(createQueueEntry(["two"]));
  assertEquals(log.lines.map((line) => line.includes("messageFrom")), [false, false, true]);
  await log.assertRestored();
});

Deno.test("EntryEncoder: stores base64 data of more than 1 KB once, in messages, results and queues", async () => {
  const log = new Log();
  const call = { id: "c", name: "look" };
  const image = createImage(PICTURE);
  const message = createMessage([text("look"), createImage("B".repeat(2_000)), image]);
  log.append({ type: "message", message });
  const queued = { steering: [{ id: "q", message }], followUp: [] };
  log.append({ type: "queue_changed", queued });
  log.append({ type: "queue_changed", queued, delivering: queued });
  const result = { content: [text("seen"), image] };
  const finished = { messageId: null, toolCallId: "c", name: "look", result, isError: false };
  log.append({ type: "tool_finished", ...finished });
  log.append({ type: "message", message: toolResultMessage(call, result.content) });
  log.append({ type: "message", message: createMessage([createImage("C".repeat(1_000))]) });
  log.append({ type: "message", message: createMessage([createImage("C".repeat(1_000))]) });
  assertEquals(log.lines.join("").split(PICTURE).length - 1, 1);
  assertEquals(log.lines.join("").split("C".repeat(1_000)).length - 1, 2);
  await log.assertRestored();
});

Deno.test("EntryEncoder: refers to entries that were read, also if they refer to others", async () => {
  const log = new Log();
  for (let number = 0; number < 2; number++) {
    log.append({ type: "message", message: createMessage([createImage(PICTURE)]) });
  }
  const [, second] = await log.restore(0, 1);
  const encoder = new EntryEncoder("s");
  assert(second);
  encoder.add(second);
  const third: SessionEntry = { ...second, id: "e2" };
  const { entry, line } = encoder.encode(third);
  log.entries.push(entry);
  log.lines.push(line);
  assert(line.includes('"e1"') && line.length < 300, line);
  await log.assertRestored();
});

Deno.test("EntryEncoder: does not refer to entries that could not be stored", async () => {
  const log = new Log();
  const lost = log.encoder.encode({
    type: "message",
    message: createMessage([createImage(PICTURE)]),
    id: "lost",
    parentId: null,
    timestamp: 1,
  });
  log.encoder.forget([lost]);
  log.append({ type: "message", message: createMessage([createImage(PICTURE)]) });
  await log.assertRestored();
});

Deno.test("restoreLines(): replaces data that is not in the log by a text, and omits lost queued messages", async () => {
  const log = new Log();
  const message = createMessage([text("look"), createImage(PICTURE)]);
  log.append({ type: "message", message });
  log.append({ type: "message", message });
  log.append(createQueueEntry(["one"]));
  log.append(createQueueEntry(["one", "two"]));
  log.lines[0] = "torn";
  log.lines[2] = "torn";
  const [, image, , queue] = await log.restore(0, 1, 2, 3);
  assertEquals(
    image?.type === "message" && image.message.role === "user" && image.message.content,
    [text("look"), text("[The data of this image was lost]")],
  );
  assertEquals(
    queue?.type === "queue_changed" && queue.queued.followUp.map(({ id }) => id),
    ["q1"],
  );
});

Deno.test("restoreLines(): ends for entries that refer to each other", async () => {
  const createLine = (id: string, from: string) => {
    const source = { type: "base64", mediaType: "image/png", dataFrom: [from, 0, 5_000] };
    const message = { role: "user", content: [{ type: "image", source }], timestamp: 1 };
    return JSON.stringify({ type: "message", id, parentId: null, timestamp: 1, message });
  };
  const lines = [createLine("a", "b"), createLine("b", "a"), createLine("c", "c")];
  const restored = await restoreLines(lines.map(decodeLine), () => Promise.resolve([]));
  assertEquals(restored.map((entry) => entry?.type), ["message", "message", "message"]);
});

Deno.test("restoreLines(): restores data that many processes in succession have repeated", async () => {
  const log = new Log();
  log.append({ type: "message", message: createMessage([createImage(PICTURE)]) });
  for (let number = 1; number < 200; number++) {
    const encoder = new EntryEncoder("s");
    const last = log.entries.at(-1);
    assert(last);
    encoder.add(last);
    const { entry, line } = encoder.encode({ ...last, id: `e${number}` });
    assert(line.includes(`"e${number - 1}"`) && line.length < 300, line);
    log.entries.push(entry);
    log.lines.push(line);
  }
  const lines = log.lines.map(decodeLine);
  const fetch = (ids: readonly string[]) =>
    Promise.resolve(ids.map((id) => lines[Number(id.slice(1))]));
  const [restored] = await restoreLines(lines.slice(-1), fetch);
  assertEquals(restored, log.entries.at(-1));
  const [, reversed] = await restoreLines([...lines].reverse(), fetch);
  assertEquals(reversed, log.entries.at(-2));
});

Deno.test("restoreLines(): an entry that is invalid with its restored content has a text instead of it", async () => {
  const log = new Log();
  log.append({ type: "message", message: createMessage([createImage(PICTURE)]) });
  log.append({ type: "message", message: createMessage([createImage(PICTURE)]) });
  // Another program has left out the media type, without which the data cannot be an image.
  const forged = (log.lines[1] ?? "").replace('"mediaType":"image/png",', "");
  const lines = [log.lines[0] ?? "", forged].map(decodeLine);
  const [, restored] = await restoreLines(lines, () => Promise.resolve([]));
  const content = restored?.type === "message" && restored.message.role === "user" &&
    restored.message.content;
  assertEquals(content, [text("[The data of this image was lost]")]);
});

Deno.test("restoreLines(): restores any number of entries that refer to others", async () => {
  const log = new Log();
  for (let number = 0; number < 600; number++) {
    const call = { id: `c${number}`, name: "t" };
    const result = { content: [text(`result ${number}`)] };
    const journal = { messageId: null, toolCallId: call.id, name: "t", isError: false };
    log.append({ type: "tool_finished", ...journal, result });
    log.append({ type: "message", message: toolResultMessage(call, result.content) });
  }
  const lines = log.lines.map(decodeLine).reverse();
  const restored = await restoreLines(lines, () => Promise.resolve([]));
  assertEquals(restored.toReversed(), log.entries);
});

Deno.test("restoreLines(): replaces data whose length differs from that of the reference", async () => {
  const log = new Log();
  const message = createMessage([createImage(PICTURE)]);
  log.append({ type: "message", message });
  log.append({ type: "message", message });
  const changed = (log.lines[0] ?? "").replace(PICTURE, PICTURE.slice(1));
  const lines = [changed, log.lines[1] ?? ""].map(decodeLine);
  const [, restored] = await restoreLines(lines, () => Promise.resolve([]));
  const content = restored?.type === "message" && restored.message.role === "user" &&
    restored.message.content;
  assertEquals(content, [text("[The data of this image was lost]")]);
});

Deno.test("restoreLines(): ends after a few entries of a long chain that another program wrote", async () => {
  const createLine = (number: number) => {
    const item = { id: "q", messageFrom: `e${number - 1}` };
    const queued = { steering: [], followUp: [item] };
    const position = { id: `e${number}`, parentId: null, timestamp: 1 };
    return decodeLine(JSON.stringify({ type: "queue_changed", queued, ...position }));
  };
  let fetched = 0;
  const [last] = await restoreLines([createLine(50_000)], (ids) => {
    fetched += ids.length;
    return Promise.resolve(ids.map((id) => createLine(Number(id.slice(1)))));
  });
  assert(fetched < 300, `${fetched} lines`);
  const lines = Array.from({ length: 50_000 }, (_, index) => createLine(50_000 - index));
  const [first] = await restoreLines(lines, () => Promise.resolve([]));
  for (const entry of [last, first]) {
    assertEquals(entry?.type === "queue_changed" && entry.queued.followUp, []);
  }
});

Deno.test("decodeSearchable(): has only the text next to data that is in another entry", () => {
  const log = new Log();
  const message = createMessage([text("needle"), createImage(PICTURE)]);
  log.append({ type: "message", message });
  log.append({ type: "message", message });
  const entry = decodeSearchable(log.lines[1] ?? "");
  assertEquals(entry && getSearchText(entry), "needle");
});

Deno.test("decodeLine(): reads queued messages of older logs, which repeat them", () => {
  const entry = { ...createQueueEntry(["one"]), id: "a", parentId: null, timestamp: 1 };
  assertEquals(decodeLine(JSON.stringify(entry)), entry as SessionEntry);
});
