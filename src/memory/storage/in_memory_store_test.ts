import { testSessionStore } from "../../testing/session_conformance.ts";
import { InMemorySessionStore } from "./in_memory_store.ts";

testSessionStore(
  (name, run) => Deno.test(`InMemorySessionStore: ${name}`, run),
  () => new InMemorySessionStore(),
);
