import { assertEquals, assertRejects } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { NetworkError, NoMessagesError } from "../core/errors/errors.ts";
import { fail, hang, reply } from "../testing/mod.ts";
import { readResponse, readTextDeltas } from "./mod.ts";

/** Runs a function while streams have no iterator, as in Safari. */
async function withoutIterators(run: () => Promise<void>): Promise<void> {
  const { prototype } = ReadableStream;
  const iterators = ([Symbol.asyncIterator, "values"] as const).map((name) =>
    [name, Object.getOwnPropertyDescriptor(prototype, name) ?? {}] as const
  );
  for (const [name] of iterators) Reflect.deleteProperty(prototype, name);
  try {
    await run();
  } finally {
    for (const [name, descriptor] of iterators) {
      Object.defineProperty(prototype, name, descriptor);
    }
  }
}

Deno.test("readResponse(): the stream can be iterated in a browser whose streams cannot", async () => {
  await withoutIterators(async () => {
    const { agent } = testAgent([reply("Hello"), fail("network_error", "No route"), hang()], {
      retry: () => null,
    });
    const ask = () => readResponse(agent.promptStream("Hi").toResponse());
    const stream = ask();
    let count = 0;
    for await (const _event of stream) count++;
    assertEquals([count > 5, stream.locked], [true, false]);
    assertEquals((await stream.result()).text, "Hello");
    await assertRejects(
      async () => {
        for await (const _text of readTextDeltas(ask()));
      },
      NetworkError,
      "No route",
    );
    for await (const _event of ask()) break;
    await agent.waitForIdle();
    assertEquals(agent.state.messages.length, 4);
  });
});

Deno.test("readResponse(): a loop over the stream throws its error in a browser whose streams have no iterator", async () => {
  await withoutIterators(async () => {
    const stream = readResponse(
      new Response("", { headers: { "content-type": "text/event-stream" } }),
    );
    await assertRejects(
      async () => {
        for await (const _event of stream);
      },
      NetworkError,
    );
  });
});

Deno.test("promptStream(): the stream can be iterated in a browser whose streams cannot, also on misuse", async () => {
  await withoutIterators(async () => {
    const { agent } = testAgent([reply("Hello")]);
    let text = "";
    for await (const delta of readTextDeltas(agent.promptStream("Hi"))) text += delta;
    assertEquals(text, "Hello");
    await assertRejects(
      async () => {
        for await (const _event of agent.promptStream(""));
      },
      NoMessagesError,
    );
  });
});
