import { assertEquals } from "@std/assert";
import { createLocal, LocalModel } from "../../src/local/mod.ts";
import { readReply } from "../../src/testing/read_reply.ts";
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

Deno.test(
  { name: "createLocal(): unload() unloads a model that was given to it", ignore },
  async () => {
    await using fixture = await createFixture();
    const model = new LocalModel({
      model: fixture.path,
      contextSize: 1024,
      threads: 1,
      gpu: false,
      llama: fixture.counts.package,
    });
    const streamFn = createLocal(model);
    for (const _ of [1, 2]) {
      const { text } = await readReply(streamFn(fixture.request("!hello")));
      assertEquals([text, model.state.type], ["Hello world, dear user", "ready"]);
      await streamFn.unload();
      assertEquals([model.state.type, fixture.counts.loaded], ["unloaded", 0]);
    }
  },
);
