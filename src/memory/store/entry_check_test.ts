import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { SessionError } from "../../core/errors/errors.ts";
import { repairHistory } from "../../core/messages/history.ts";
import type { Session } from "../../core/sessions/session.ts";
import type {
  SessionEntry,
  SessionEntryBody,
  SessionHeader,
} from "../../core/sessions/session_entry.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { readSessionState } from "../recording/session_state.ts";
import { exportHtml } from "../transfer/export_html.ts";
import { exportMarkdown } from "../transfer/export_markdown.ts";
import { EntryEncoder } from "./entry_encoder.ts";
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
  {
    type: "run_ended",
    stopReason: "error",
    error: { code: "network_error", message: "m", retryable: true },
    stoppedBy: { policy: "p", reason: "r" },
    ...position,
  },
  {
    type: "sub_agent_spawned",
    subAgentId: "s",
    prompt: "p",
    name: "n",
    toolCallId: "c",
    sessionId: "s",
    mode: "detached",
    worktree: { directory: "/w", branch: "b" },
    ...position,
  },
  { type: "plan_step", step: 0, state: "complete", note: "n", ...position },
  { type: "label", targetId: "e", label: "l", ...position },
  { type: "title", title: "t", ...position },
  { type: "custom", name: "n", data: { a: [1] }, ...position },
  {
    type: "approvals_pending",
    messageId: "e",
    pendingApprovals: [{ toolCallId: "c", name: "n", arguments: {} }],
    decidedCalls: [{ toolCallId: "d", name: "n", arguments: {}, decision: { type: "denied" } }],
    ...position,
  },
  {
    type: "approval",
    toolCallId: "c",
    name: "b",
    decision: { type: "denied", reason: "r", rule: "a", ruleSource: "s", origin: "rule" },
    ...position,
  },
  {
    type: "message",
    message: assistantMessage("e", { stopReason: "error", errorMessage: "m" }),
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

/** Values of which a template literal throws, so that each text of a log has to be checked. */
const UNPRINTABLE = JSON.parse('{"toString":1,"valueOf":1}');

/** Runs every function that processes entries of a log. */
async function exerciseEntry(entry: SessionEntry): Promise<void> {
  const header: SessionHeader = createHeader({ id: "s", created: 0 });
  const summary = SummaryBuilder.from(header);
  summary.add(entry);
  assert(isSummary(JSON.parse(JSON.stringify(summary.build(0)))));
  getSearchText(entry);
  new SearchQuery("ls ok").findHit("s", entry);
  new EntryEncoder("s").encode(entry);
  readSessionState([entry, entry]);
  const session = { id: "s", header, path: () => Promise.resolve([entry]) } as unknown as Session;
  await exportHtml(session);
  await exportMarkdown(session);
  if (entry.type !== "message") return;
  estimateTokens(entry.message);
  repairHistory([entry.message, entry.message]);
}

Deno.test("decodeLine() restores every type of entry from its line", () => {
  for (const entry of ENTRIES) assertEquals(decodeLine(encodeEntry(entry)), entry);
});

Deno.test("decodeRecord() rejects a corrupted entry or returns a usable one", async () => {
  let rejected = 0;
  const path = fc.array(fc.nat(20), { maxLength: 7 });
  const index = fc.nat(ENTRIES.length - 1);
  const value = fc.oneof(fc.jsonValue(), fc.constant(UNPRINTABLE));
  await fc.assert(
    fc.asyncProperty(index, path, value, async (index, path, replacement) => {
      const decoded = decodeRecord(corruptValue(ENTRIES[index], path, replacement));
      if (!decoded) rejected++;
      else if (decoded.type !== "referring") await exerciseEntry(decoded);
      else {
        await exerciseEntry(decoded.entry);
        await exerciseEntry(restoreContent(decoded, () => ENTRIES[0]));
      }
    }),
    { numRuns: RUNS, seed: 5 },
  );
  assert(rejected > RUNS / 4 && rejected < RUNS);
});

Deno.test("decodeRecord() omits optional members that are invalid, which EntryEncoder refuses", () => {
  const cases: readonly (readonly [body: SessionEntryBody, name: string])[] = [
    [{ type: "run_ended", stopReason: "error" }, "error"],
    [{ type: "run_ended", stopReason: "stop" }, "stoppedBy"],
    [{ type: "sub_agent_spawned", subAgentId: "s", prompt: "p" }, "name"],
    [{ type: "sub_agent_spawned", subAgentId: "s", prompt: "p" }, "worktree"],
    [{ type: "tools_changed", names: ["a"] }, "tools"],
    [{ type: "approvals_pending", messageId: "e", pendingApprovals: [] }, "decidedCalls"],
    [{ type: "plan_step", step: 0, state: "complete" }, "note"],
    [{ type: "message", message: toolResultMessage(call, "ok") }, "isCopy"],
  ];
  for (const [body, name] of cases) {
    const entry = { ...body, ...position };
    for (const invalid of [5, null, {}, { message: 5, policy: {}, directory: "/", branch: 1 }]) {
      const changed = { ...entry, [name]: invalid };
      assertEquals(decodeRecord(changed), entry);
      assertThrows(() => new EntryEncoder("s").encode(changed), SessionError, name);
    }
  }
  const message = assistantMessage("kept");
  const entry = { type: "message", message, ...position } as const;
  const changed = { ...entry, message: { ...message, errorMessage: 5, errorCode: {} } };
  assertEquals(decodeRecord(changed), entry);
});

Deno.test("decodeRecord() omits decided calls without a decision", () => {
  const entry = {
    type: "approvals_pending",
    messageId: "e",
    pendingApprovals: [],
    ...position,
  } as const;
  const decidedCalls = [{ toolCallId: "d", name: "n", arguments: {} }];
  assertEquals(decodeRecord({ ...entry, decidedCalls }), entry);
});

Deno.test("decodeLine() never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (line) => {
      decodeLine(line);
    }),
    { numRuns: RUNS, seed: 6 },
  );
});
