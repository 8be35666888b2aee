import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../../../tests/project.ts";
import { Agent } from "../../agent/agent.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { AttachedAgents } from "./attached_agents.ts";

const createAgent = () => new Agent({ model: "test/model", streamFn: scriptedStream([]) });

Deno.test("AttachedAgents: lists the updates of agents, and of other objects, until they are removed", () => {
  const agents = new AttachedAgents();
  const calls: string[] = [];
  const agent = createAgent();
  const removeFirst = agents.add(agent, () => calls.push("first"));
  agents.add(agent, () => calls.push("second"));
  agents.add({ state: agent.state, setTools: () => {} }, () => calls.push("other"));
  const runAll = () => {
    for (const update of agents.list()) update();
    return calls.splice(0);
  };
  assertEquals(runAll(), ["first", "second", "other"]);
  removeFirst();
  assertEquals(runAll(), ["second", "other"]);
  agents.clear();
  assertEquals(runAll(), []);
});

Deno.test("attach(): keeps no agent that the program has no reference to, and other objects until they are detached", async () => {
  const { success, text } = await runDeno("run", [
    "--v8-flags=--expose-gc",
    "--no-check",
    "-A",
    "tests/mcp/attached_agents.ts",
  ]);
  assert(success, text);
  const [agents = NaN, others = NaN, detached = NaN] = (text.trim().split("\n").at(-1) ?? "")
    .split(" ").map(Number);
  assert(agents <= 2, `${agents} of 20 agents are still referenced`);
  assertEquals(others, 20);
  assert(detached <= 2, `${detached} of 20 detached objects are still referenced`);
});
