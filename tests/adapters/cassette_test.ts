/**
 * Runs with each adapter, recorded once against aimock and replayed without a network.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentEvent, type StreamFn } from "../../mod.ts";
import { recordFetch } from "../../src/cassettes/record_fetch.ts";
import { replayCassette } from "../../src/cassettes/replay_cassette.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { createMemoryFiles } from "../cassettes/memory_files.ts";
import { InstantClock, scriptedPorts } from "../conformance/ports.ts";
import { Aimock, startAimock } from "./aimock_server.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";

const aimock = await startAimock();
const server = aimock ?? new Aimock("");

const FIXTURES = [
  {
    match: { userMessage: "weather", sequenceIndex: 0 },
    response: { status: 529, error: { message: "Overloaded", type: "overloaded_error" } },
  },
  {
    match: { userMessage: "weather", hasToolResult: false },
    response: {
      content: "Grüezi, let me check. 👋",
      reasoning: "I need the weather.",
      toolCalls: [{ id: "call_w1", name: "get_weather", arguments: '{"city":"Zürich"}' }],
    },
  },
  {
    match: { userMessage: "weather", hasToolResult: true },
    response: { content: "It is 21 °C in Zürich." },
  },
];

for (const subject of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
  Deno.test({
    name: `cassette: replays the events of a run with ${subject.name}`,
    ignore: aimock === undefined,
    async fn() {
      await server.setFixtures(FIXTURES);
      const files = createMemoryFiles();
      const { url } = server;
      const recording = recordFetch(fetch, "run.jsonl", { files });
      const live = await recordEvents(subject, subject.createStreamFn({ url, fetch: recording }));
      await recording.close();
      assert(!files.texts.get("run.jsonl")?.includes("sk-test"));

      for (let round = 0; round < 2; round++) {
        const replaying = replayCassette("run.jsonl", { files });
        const replayed = await recordEvents(
          subject,
          subject.createStreamFn({ url, fetch: replaying }),
        );
        assertEquals(replayed, live);
        replaying.assertDone();
      }
    },
  });
}

/** Runs an agent with deterministic ports and returns its events as JSON. */
async function recordEvents(subject: ProviderSubject, streamFn: StreamFn): Promise<string[]> {
  const agent = new Agent({
    model: subject.model,
    streamFn,
    tools: [fakeTool({ name: "get_weather", result: "21 degrees" })],
    prices: {},
    streamOptions: { cache: "off" },
    ...scriptedPorts(new InstantClock()),
  });
  const events: AgentEvent[] = [];
  for await (const event of agent.promptStream("What is the weather?")) events.push(event);
  const last = events.at(-1);
  assert(last?.type === "agent_end" && last.stopReason === "stop", JSON.stringify(last));
  assert(events.some(({ type }) => type === "retry"));
  return events.map((event) => JSON.stringify(event));
}
