import { InMemorySessionStore } from "../../memory/mod.ts";
import { testDurableEngine } from "../../testing/durable_conformance.ts";
import { InProcessEngine } from "./in_process_engine.ts";

testDurableEngine(Deno.test, () => {
  const store = new InMemorySessionStore();
  return { createEngine: () => new InProcessEngine({ store, pollMs: 10 }) };
});
