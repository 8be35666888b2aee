import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { text, toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import type { Trajectory } from "./trajectory.ts";
import { TrajectoryCollector } from "./trajectory_collector.ts";

async function collect(
  options: Partial<AgentOptions>,
  prompts: readonly string[] = ["Go"],
): Promise<Trajectory> {
  const agent = new Agent({ model: "test/model", ...options });
  const collector = new TrajectoryCollector();
  for (const prompt of prompts) {
    for await (const event of agent.promptStream(prompt)) collector.add(event);
  }
  return collector.trajectory;
}

const summarize = ({ calls }: Trajectory) => calls.map(({ tool, outcome }) => `${tool} ${outcome}`);

Deno.test("TrajectoryCollector: lists completed, failed, unknown and denied calls in order [A155]", async () => {
  const trajectory = await collect({
    streamFn: scriptedStream([
      reply([toolCall("ok"), toolCall("bad"), toolCall("unknown"), toolCall("denied")]),
      reply("Done"),
    ]),
    tools: [
      fakeTool({ name: "ok", result: "fine" }),
      fakeTool({ name: "bad", result: () => Promise.reject(new Error("broken")) }),
      fakeTool({ name: "denied" }),
    ],
    approvalMode: "always",
    approve: ({ name }) => ({ type: name === "denied" ? "denied" : "approved" }),
  });
  assertEquals(summarize(trajectory), [
    "ok completed",
    "bad failed",
    "unknown failed",
    "denied denied",
  ]);
  assertEquals(trajectory.calls[0]?.result, "fine");
  assertEquals(trajectory.response, "Done");
  assertEquals(trajectory.turns, 2);
});

Deno.test("TrajectoryCollector: a call whose id repeats in a later turn is a call of its own", async () => {
  const call = toolCall("ok", {}, { id: "1" });
  const trajectory = await collect({
    streamFn: scriptedStream([reply([call]), reply([call]), reply("Done")]),
    tools: [fakeTool({ name: "ok" })],
  });
  assertEquals(trajectory.calls.map(({ turn }) => turn), [1, 2]);
});

Deno.test("TrajectoryCollector: adds the turns and tokens of several runs", async () => {
  const usage = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, total: 5 };
  const trajectory = await collect({
    streamFn: scriptedStream([reply("One", { usage }), reply("Two", { usage })]),
  }, ["a", "b"]);
  assertEquals(trajectory.turns, 2);
  assertEquals(trajectory.usage.total, 10);
  assertEquals(trajectory.response, "Two");
});

Deno.test("TrajectoryCollector: calls of a sub-agent are part of its call", async () => {
  const worker = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("inner")]), reply("Inner answer")]),
    tools: [fakeTool({ name: "inner" })],
  });
  const trajectory = await collect({
    streamFn: scriptedStream([reply([toolCall("worker", { prompt: "Work" })]), reply("Done")]),
    tools: [worker.asTool({ name: "worker", description: "Works" })],
  });
  assertEquals(summarize(trajectory), ["worker completed"]);
  assertEquals(trajectory.calls[0]?.calls.map(({ tool }) => tool), ["inner"]);
});

Deno.test("TrajectoryCollector: has the replies with the message, the tokens and the time of each", async () => {
  let time = 0;
  const now = () => time;
  const usage = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, total: 5 };
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([
      reply([text("First"), toolCall("slow")], { usage }),
      reply("Done", { usage }),
      reply("Again", { usage }),
    ]),
    tools: [fakeTool({
      name: "slow",
      result: async () => {
        await new Promise((resolve) => setTimeout(resolve));
        time += 30;
        return "ok";
      },
    })],
    now,
  });
  const collector = new TrajectoryCollector({ now });
  for (const prompt of ["a", "b"]) {
    for await (const event of agent.promptStream(prompt)) collector.add(event);
  }
  const { replies, calls } = collector.trajectory;
  const outline = replies.map(({ prompt, turn, text, tokens }) => [prompt, turn, text, tokens]);
  assertEquals(outline, [[1, 1, "First", 5], [1, 2, "Done", 5], [2, 3, "Again", 5]]);
  assertEquals(replies.map(({ cost }) => cost), [null, null, null]);
  assertEquals(calls.map(({ durationMs }) => durationMs), [30]);
});

Deno.test("TrajectoryCollector: reports the error of a run without a reply", async () => {
  const trajectory = await collect({
    streamFn: () => {
      throw new Error("no connection");
    },
  });
  assertEquals(trajectory.response, "");
  assertEquals(trajectory.stopReason, "error");
  assertEquals(trajectory.calls, []);
});
