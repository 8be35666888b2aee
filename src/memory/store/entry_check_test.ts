import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { repairHistory } from "../../core/history.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import { estimateTokens } from "../../core/tokens.ts";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { readSessionState } from "../recording/session_state.ts";
import { createHeader, decodeLine, decodeRecord, encodeEntry, restoreContent } from "./jsonl.ts";
import { getSearchText, SearchQuery } from "./search.ts";
import { SummaryBuilder } from "./summary.ts";
import { isSummary } from "./summary_check.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 100_000 : 3_000;
const call = toolCall("bash", { command: "ls" }, { id: "c" });
const position = { id: "e", parentId: null, timestamp: 1 } as const;
const image = { type: "image", source: { type: "url", url: "https://example.com" } } as const;
const source = { type: "base64", data: "JVBERi0=" } as const;
const document = { type: "document", mediaType: "application/pdf", source } as const;
const audio = { type: "audio", mediaType: "audio/wav", source } as const;
const extension = { type: "extension", typeName: "any.item", data: {} } as const;
const unknownCost = { input: null, output: null, cacheRead: null, cacheWrite: null, total: null };
const callFields = { messageId: "e", toolCallId: "c", name: "bash" } as const;
const queued = { steering: [{ id: "q", message: assistantMessage("hi") }], followUp: [] };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };

const ENTRIES: readonly SessionEntry[] = [
  { type: "message", message: assistantMessage([text("t"), thinking("h"), call]), ...position },
  {
    type: "message",
    message: { role: "user", content: [image, document, audio, extension], timestamp: 1 },
    ...position,
  },
  { type: "message", message: assistantMessage("t", { usage, cost: unknownCost }), ...position },
  { type: "message", message: toolResultMessage(call, "ok"), ...position },
  { type: "message", message: { role: "custom", type: "n", data: {}, timestamp: 1 }, ...position },
  {
    type: "tool_finished",
    ...callFields,
    result: { content: [text("r")] },
    isError: false,
    ...position,
  },
  {
    type: "tool_started",
    ...callFields,
    arguments: {},
    sideEffect: "once",
    idempotencyKey: "k",
    ...position,
  },
  { type: "queue_changed", queued, delivering: queued, ...position },
  {
    type: "model_changed",
    model: { provider: "p", modelId: "m", thinkingLevel: "off" },
    ...position,
  },
  { type: "tools_changed", names: ["a"], ...position },
  { type: "plan_created", plan: "p", steps: ["s"], ...position },
  { type: "approval", toolCallId: "c", name: "b", decision: { type: "approved" }, ...position },
  { type: "sub_agent_result", subAgentId: "s", result: "r", isError: false, usage, ...position },
  {
    type: "compaction",
    firstDroppedId: null,
    lastDroppedId: null,
    droppedCount: 1,
    tokensBefore: 1,
    tokensAfter: 1,
    usage,
    cost: usage,
    ...position,
  },
  { type: "reply_failed", message: assistantMessage("", { usage, cost: usage }), ...position },
  { type: "sub_agent_message", path: ["c"], message: assistantMessage("t"), ...position },
  {
    type: "message",
    message: { ...toolResultMessage(call, "ok"), usage, cost: usage },
    ...position,
  },
];

/** Replaces the member of a JSON value at a path of key numbers. */
function corruptValue(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [first = 0, ...rest] = path;
  if (typeof value !== "object" || value === null || path.length === 0) return replacement;
  const keys = Object.keys(value);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  const member = corruptValue((value as Record<string, unknown>)[key], rest, replacement);
  if (Array.isArray(value)) {
    return value.map((item, index) => String(index) === key ? member : item);
  }
  return { ...value, [key]: member };
}

/** Runs every function that processes entries of a log. */
function exerciseEntry(entry: SessionEntry): void {
  const header: SessionHeader = createHeader({ id: "s", created: 0 });
  const summary = SummaryBuilder.from(header);
  summary.add(entry);
  assert(isSummary(JSON.parse(JSON.stringify(summary.build(0)))));
  getSearchText(entry);
  new SearchQuery("ls ok").findHit("s", entry);
  encodeEntry(entry);
  readSessionState([entry, entry]);
  if (entry.type !== "message") return;
  estimateTokens(entry.message);
  repairHistory([entry.message, entry.message]);
}

Deno.test("decodeLine() restores every type of entry from its line", () => {
  for (const entry of ENTRIES) assertEquals(decodeLine(encodeEntry(entry)), entry);
});

Deno.test("decodeRecord() rejects a corrupted entry or returns a usable one", () => {
  let rejected = 0;
  const path = fc.array(fc.nat(20), { maxLength: 7 });
  const index = fc.nat(ENTRIES.length - 1);
  fc.assert(
    fc.property(index, path, fc.jsonValue(), (index, path, replacement) => {
      const decoded = decodeRecord(corruptValue(ENTRIES[index], path, replacement));
      if (!decoded) rejected++;
      else if (decoded.type !== "referring") exerciseEntry(decoded);
      else [decoded.entry, restoreContent(decoded, () => ENTRIES[0])].forEach(exerciseEntry);
    }),
    { numRuns: RUNS, seed: 5 },
  );
  assert(rejected > RUNS / 4 && rejected < RUNS);
});

Deno.test("decodeLine() never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (line) => {
      decodeLine(line);
    }),
    { numRuns: RUNS, seed: 6 },
  );
});
