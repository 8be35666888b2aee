import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { execute, type ExecuteOptions, withoutTimes } from "./agent_execution.ts";
import type { ArrayJournal } from "./array_journal.ts";

const usage: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };

/** Executes a run that calls the tool `ask`, and replays it with all of its steps. */
async function executeTwice(options: Omit<ExecuteOptions, "script">) {
  const script = [reply([toolCall("ask", { prompt: "Help" }, { id: "a" })]), reply("Done")];
  const first = await execute({ ...options, script });
  const second = await execute({ ...options, script, records: first.journal.records });
  assertEquals(second.journal.executed, []);
  return [first, second] as const;
}

Deno.test("durableAgent(): a replay has what an agent has spent whose call was cancelled", async () => {
  let journal: ArrayJournal | undefined;
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: {},
    readOnly: true,
    execute: () => {
      journal?.send({ type: "steer", message: userMessage("Stop", 5) });
      return new Promise<never>(() => {});
    },
  });
  const streamFn = () => scriptedStream([reply([toolCall("look")], { usage }), hang()]);
  const createAgent = () => new Agent({ model: "test/model", streamFn: streamFn(), tools: [look] });
  const [first, second] = await executeTwice({
    tools: [createAgent().asTool({ name: "ask", description: "Asks.", sideEffect: "idempotent" })],
    onStart: (started) => journal = started,
  });
  assertEquals(JSON.stringify(first.outcome).includes('"total":15'), true);
  assertEquals(withoutTimes(second.outcome), withoutTimes(first.outcome));
});

Deno.test("durableAgent(): a replay has what the agent of a tool has spent that has failed", async () => {
  const ask = defineTool({
    name: "ask",
    description: "Asks.",
    parameters: { type: "object" },
    readOnly: true,
    execute: async (_args, { onEvent }) => {
      const streamFn = scriptedStream([reply("Done", { usage })]);
      const agent = new Agent({ model: "test/model", streamFn });
      agent.subscribe(onEvent);
      await agent.prompt("Help");
      throw new Error("out of paper");
    },
  });
  const [first, second] = await executeTwice({ tools: [ask] });
  assertEquals(JSON.stringify(first.outcome).includes('"total":15'), true);
  assertEquals(withoutTimes(second.outcome), withoutTimes(first.outcome));
});

Deno.test("durableAgent(): a replay has what the agent of a tool has spent that ends with a result when its call is cancelled", async () => {
  let journal: ArrayJournal | undefined;
  const ask = defineTool({
    name: "ask",
    description: "Asks.",
    parameters: { type: "object" },
    readOnly: true,
    execute: async (_args, { onEvent, signal }) => {
      const streamFn = scriptedStream([reply("Done", { usage })]);
      const agent = new Agent({ model: "test/model", streamFn });
      agent.subscribe(onEvent);
      await agent.prompt("Help");
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      journal?.send({ type: "steer", message: userMessage("Stop", 5) });
      await aborted;
      return "ended in order";
    },
  });
  const [first, second] = await executeTwice({
    tools: [ask],
    onStart: (started) => journal = started,
  });
  assertEquals(JSON.stringify(first.outcome).includes('"total":15'), true);
  assertEquals(withoutTimes(second.outcome), withoutTimes(first.outcome));
});
