import { assertEquals, assertThrows } from "@std/assert";
import { eventsOfType } from "../../tests/conformance/outline.ts";
import { type TestAgent, testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { extractText } from "../core/messages/content.ts";
import { unknownCost } from "../core/models/usage.ts";
import { fakeTool, reply, toolCall } from "../testing/mod.ts";
import { auditLog, type AuditLogOptions, type AuditRecord } from "./mod.ts";

const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };

function startAgent(options: AuditLogOptions) {
  const work = fakeTool({ name: "work" });
  const call = reply([toolCall("work", { path: "a" }, { id: "c1" })], { usage: USAGE });
  const test: TestAgent = testAgent([call, reply("Done")], {
    tools: [work],
    policies: [auditLog(options)],
  });
  return { ...test, work };
}

Deno.test("auditLog() writes tool calls, turns and runs in order", async () => {
  const records: AuditRecord[] = [];
  const { agent } = startAgent({ write: (record) => void records.push(record) });
  await agent.prompt("Go");
  const base = { runId: "run_1", model: "test/model", elapsedMs: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  assertEquals(records, [
    {
      ...{ type: "tool_call", ...base, turn: 1 },
      ...{ toolCallId: "c1", tool: "work", arguments: { path: "a" } },
    },
    {
      ...{ type: "turn", ...base, turn: 1, stopReason: "tool_use" },
      ...{ usage: USAGE, cost: unknownCost() },
      toolResults: [{ toolCallId: "c1", isError: false }],
    },
    {
      ...{ type: "turn", ...base, turn: 2, stopReason: "stop" },
      ...{ usage, cost: usage, toolResults: [] },
    },
    {
      ...{ type: "run", ...base, turn: 2, stopReason: "stop" },
      ...{ usage: USAGE, cost: unknownCost() },
    },
  ]);
  assertEquals(JSON.parse(JSON.stringify(records)), records);
});

for (
  const [kind, write] of [
    ["rejects", () => Promise.reject(new Error("disk full"))],
    ["throws", () => {
      throw new Error("disk full");
    }],
  ] as const
) {
  Deno.test(`auditLog() refuses a call whose record cannot be written because \`write\` ${kind}`, async () => {
    const { agent, work, seen } = startAgent({ write });
    const { messages, stopReason } = await agent.prompt("Go");
    assertEquals([work.calls, stopReason], [[], "stop"]);
    const result = messages.find((message) => message.role === "tool_result");
    assertEquals(
      extractText(result?.content ?? []),
      'Tool call refused: the policy "audit_log" failed: disk full',
    );
    // The call, two turns and the run.
    assertEquals(eventsOfType(seen, "warning").map(({ code }) => code), [
      ...["policy_failed", "policy_failed", "policy_failed", "policy_failed"],
    ]);
  });
}

Deno.test('auditLog() with `onError: "ignore"` runs a call whose record cannot be written, and warns', async () => {
  const write = ({ type }: AuditRecord) => {
    if (type === "tool_call") throw new Error("disk full");
  };
  const { agent, work, seen } = startAgent({ write, onError: "ignore" });
  await agent.prompt("Go");
  assertEquals(work.calls.length, 1);
  assertEquals(eventsOfType(seen, "warning").map(({ message }) => message), [
    'The policy "audit_log" (postTurn) failed: disk full',
  ]);
});

Deno.test("auditLog() throws for an invalid onError", () => {
  const options = { write: () => {}, onError: "warn" } as unknown as AuditLogOptions;
  assertThrows(() => auditLog(options), BadRequestError, "onError must be");
});

Deno.test("auditLog(): changes of a record, such as masked arguments, do not change the call", async () => {
  const { agent, work } = startAgent({
    write: (record) => {
      if (record.type === "tool_call") Object.assign(record.arguments, { path: "[redacted]" });
    },
  });
  const { messages } = await agent.prompt("Go");
  assertEquals(work.calls.map((call) => call.arguments), [{ path: "a" }]);
  assertEquals(
    messages.flatMap((message) =>
      message.role === "tool_result" ? extractText(message.content) : []
    ),
    ["ok"],
  );
});

Deno.test("auditLog(): changes of the usage in a record do not change the messages and the result", async () => {
  const { agent } = startAgent({
    write: (record) => {
      if (record.type !== "tool_call") Object.assign(record.usage, { total: 999 });
    },
  });
  const { messages, usage } = await agent.prompt("Go");
  const totals = messages.flatMap((message) =>
    message.role === "assistant" ? message.usage.total : []
  );
  assertEquals([usage.total, ...totals].includes(999), false);
});
