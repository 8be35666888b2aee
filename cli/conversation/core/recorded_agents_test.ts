import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../../mod.ts";
import { RecordedAgents } from "./recorded_agents.ts";

type SubAgentEvent = Extract<AgentEvent, { type: "sub_agent" }>;

/** Records the events of agents by the ids of the calls that lead to them. */
function record(events: readonly (readonly [path: string, type: "turn_start" | "agent_end"])[]) {
  const agents = new RecordedAgents({ now: () => 0 });
  for (const [path, type] of events) {
    const event = type === "agent_end" ? { type, stopReason: "stop" } : { type };
    agents.onEvent({ type: "sub_agent", path: path.split("/"), event } as unknown as SubAgentEvent);
  }
  return agents;
}

Deno.test("RecordedAgents: an agent that has started many others is the same one until it ends", () => {
  const started = Array.from({ length: 250 }, (_, index) =>
    [
      [`a/${index}`, "turn_start"],
      [`a/${index}`, "agent_end"],
    ] as const).flat();
  const agents = record([["a", "turn_start"], ...started, ["a", "turn_start"], ["a", "agent_end"]]);
  const [agent, ...others] = agents.views;
  assertEquals(others, []);
  assertEquals([agent?.number, agent?.turns, agent?.status], [1, 2, "completed"]);
  assertEquals(agent?.children.length, 99);
  assertEquals(agent?.children.at(-1)?.number, 251);
});

Deno.test("RecordedAgents: keeps agents that run, and the latest of those that have ended", () => {
  const running = Array.from({ length: 120 }, (_, index) => [`${index}`, "turn_start"] as const);
  const ended = running.slice(0, 110).map(([path]) => [path, "agent_end"] as const);
  assertEquals(record(running).views.length, 120);
  const { views } = record([...running, ...ended, ["new", "turn_start"]]);
  assertEquals(views.length, 100);
  assertEquals(views.filter(({ status }) => status === "running").length, 11);
});

Deno.test("RecordedAgents: the text of an agent has the failures of its calls", () => {
  const agents = new RecordedAgents({ now: () => 0 });
  const call = { id: "c", name: "bash", arguments: { command: "rm a" } };
  const content = [{ type: "text", text: "Tool call rejected by approval: it works alone" }];
  const events = [
    { type: "turn_start" },
    { type: "tool_execution_start", ...call },
    { type: "tool_execution_end", ...call, result: { content }, isError: true },
    { type: "tool_execution_start", ...call },
    { type: "tool_execution_end", ...call, result: { content: [] }, isError: false },
  ];
  for (const event of events) {
    agents.onEvent({ type: "sub_agent", path: ["a"], event } as unknown as SubAgentEvent);
  }
  assertEquals(
    agents.getText(1),
    "\n• bash rm a\n✗ bash · Refused: it works alone\n\n• bash rm a\n",
  );
});

Deno.test("RecordedAgents: shows the first call of a reply that has not ended", () => {
  const agents = new RecordedAgents({ now: () => 0 });
  const start = (id: string) => (
    { type: "tool_execution_start", id, name: "bash", arguments: { command: `run ${id}` } }
  );
  const end = (id: string) => (
    { type: "tool_execution_end", id, name: "bash", result: { content: [] }, isError: false }
  );
  const events = [start("a"), start("b"), start("c"), end("b"), end("a"), end("c"), start("d")];
  const shown = events.map((event) => {
    agents.onEvent({ type: "sub_agent", path: ["x"], event } as unknown as SubAgentEvent);
    return agents.views[0]?.activity.at(-1);
  });
  assertEquals(shown.join(""), "aaaaccd");
});
