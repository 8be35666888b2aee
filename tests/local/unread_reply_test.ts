import { assert, assertEquals } from "@std/assert";
import { createFixture } from "./local_fixture.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

Deno.test(
  { name: "createLocal(): a reply that is not read does not block other requests", ignore },
  async () => {
    await using fixture = await createFixture();
    const events = fixture.streamFn(fixture.request("!loop", { maxTokens: 20 }))
      [Symbol.asyncIterator]();
    while ((await events.next()).value?.type !== "text_delta");
    const { text } = await fixture.ask("!hello");
    assertEquals(text, "Hello world, dear user");
    const types: string[] = [];
    for (let event = await events.next(); !event.done; event = await events.next()) {
      types.push(event.value.type);
    }
    assertEquals(types, [...Array(19).fill("text_delta"), "text_end", "done"]);
  },
);

Deno.test(
  { name: "createLocal(): a reply for which another one waits can be cancelled", ignore },
  async () => {
    await using fixture = await createFixture();
    const events = fixture.streamFn(fixture.request("!loop", { maxTokens: 900 }))
      [Symbol.asyncIterator]();
    while ((await events.next()).value?.type !== "text_delta");
    const asked = fixture.ask("!hello");
    // The reply continues without its reader.
    while (fixture.counts.generated < 10) await new Promise((resolve) => setTimeout(resolve));
    await events.return?.();
    assertEquals((await asked).text, "Hello world, dear user");
    assert(fixture.counts.generated < 300);
  },
);
