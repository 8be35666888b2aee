import { assertEquals } from "@std/assert";
import { createFixture } from "./local_fixture.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

Deno.test(
  {
    name: "createLocal(): unload() after the last event waits until the model is unloaded",
    ignore,
  },
  async () => {
    const states: string[] = [];
    await using fixture = await createFixture({ onState: ({ type }) => states.push(type) });
    const events = fixture.streamFn(fixture.request("!hello"))[Symbol.asyncIterator]();
    while ((await events.next()).value?.type !== "done");
    await fixture.streamFn.unload();
    assertEquals(states.at(-1), "unloaded");
    await events.return?.();
  },
);
