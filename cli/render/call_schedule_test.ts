import { assertEquals } from "@std/assert";
import { type AgentTool, defineTool, type JsonObject } from "../../mod.ts";
import { CallSchedule } from "./call_schedule.ts";

function tool(name: string, options: Partial<AgentTool>): AgentTool {
  const parameters = { type: "object" } as const;
  const created = defineTool({ name, description: name, parameters, execute: () => "" });
  return { ...created, ...options };
}

const TOOLS = [
  tool("bash", { concurrencyKey: () => "bash" }),
  tool("read", {}),
  tool("alone", { sequential: true }),
  tool("write", { concurrencyKey: ({ path }) => `file:${path}` }),
  tool("broken", {
    concurrencyKey: () => {
      throw new Error("no key");
    },
  }),
];

/** Starts calls whose ids begin with the name of the tool. Returns the calls and the ids of those that wait. */
function start(ids: readonly string[], args: JsonObject = {}) {
  const calls = new CallSchedule((name) => TOOLS.find((tool) => tool.name === name));
  const waiting = ids.filter((id) =>
    calls.start({ id, name: id.replace(/\d+$/, ""), arguments: { path: id, ...args } })
  );
  return { calls, waiting };
}

Deno.test("CallSchedule: calls with the same key wait for each other", () => {
  const { calls, waiting } = start(["bash1", "read1", "bash2", "bash3", "broken1", "unknown1"]);
  assertEquals(waiting, ["bash2", "bash3"]);
  assertEquals(calls.end("read1"), []);
  assertEquals(calls.end("bash1"), ["bash2"]);
  assertEquals([calls.isWaiting("bash2"), calls.isWaiting("bash3")], [false, true]);
  assertEquals(calls.end("bash3"), []);
  assertEquals(calls.end("bash2"), []);
  assertEquals(start(["write1", "write2"]).waiting, []);
  assertEquals(start(["write1", "write2"], { path: "a" }).waiting, ["write2"]);
});

Deno.test("CallSchedule: a sequential tool waits for all calls before it, and all after it wait", () => {
  const { calls, waiting } = start(["read1", "read2", "alone1", "read3", "read4"]);
  assertEquals(waiting, ["alone1", "read3", "read4"]);
  assertEquals(calls.end("read2"), []);
  assertEquals(calls.end("read1"), ["alone1"]);
  assertEquals(calls.end("alone1"), ["read3", "read4"]);
});

Deno.test("CallSchedule: thousands of calls of one reply", () => {
  const ids = Array.from({ length: 6_000 }, (_, index) => `read${index}`);
  const { calls, waiting } = start(["alone", ...ids]);
  assertEquals(waiting, ids);
  assertEquals(calls.end("alone"), ids);
  for (const id of ids) calls.end(id);
  assertEquals(start(ids).waiting, []);
});
