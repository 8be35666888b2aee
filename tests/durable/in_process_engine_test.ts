import { InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { testDurableAgent } from "./agent_scenarios.ts";

testDurableAgent(
  (name, fn) => Deno.test(`InProcessEngine: ${name}`, fn),
  () => {
    const store = new InMemorySessionStore();
    return { createEngine: () => new InProcessEngine({ store, pollMs: 10 }) };
  },
);
