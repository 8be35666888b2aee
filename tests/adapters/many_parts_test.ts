import { assertEquals, assertLess } from "@std/assert";
import { startThreadTimer } from "../thread_time.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

const COUNT = 15_000;

function repeat(create: (index: number) => object): object[] {
  return Array.from({ length: COUNT }, (_, index) => create(index));
}

function createChatEvent(delta: object): object {
  return { choices: [{ delta }] };
}

/** Streams of many small events, each of which adds to what the reader has stored, by the name of the API. */
const STREAMS: readonly (readonly [api: string, events: readonly object[]])[] = [
  [
    "anthropic",
    repeat((index) => ({ type: "message_delta", delta: {}, usage: { [`count_${index}`]: 1 } })),
  ],
  [
    "anthropic",
    [
      { type: "content_block_start", index: 0, content_block: { type: "compaction" } },
      ...repeat((index) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "compaction_delta", [`part_${index}`]: "x" },
      })),
    ],
  ],
  [
    "anthropic",
    repeat((index) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `id_${index}`, name: "read_file", input: {} },
    })),
  ],
  ["google", repeat((index) => ({ usageMetadata: { [`count_${index}`]: 1 } }))],
  [
    "google",
    repeat((index) => ({
      candidates: [{
        groundingMetadata: { groundingChunks: [{ web: { uri: `https://a.example/${index}` } }] },
      }],
    })),
  ],
  [
    "google",
    [{
      candidates: [{
        groundingMetadata: {
          groundingChunks: repeat(() => ({ web: { uri: "https://a.example" } })),
          groundingSupports: repeat(() => ({ groundingChunkIndices: [0] })),
        },
      }],
    }],
  ],
  ["openai", repeat((index) => ({ choices: [], usage: { [`count_${index}`]: 1 } }))],
  [
    "openai",
    repeat((index) => createChatEvent({ annotations: [{ url: `https://a.example/${index}` }] })),
  ],
  [
    "openai",
    repeat((index) =>
      createChatEvent({ tool_calls: [{ id: `id_${index}`, function: { name: "read_file" } }] })
    ),
  ],
];

Deno.test("all providers: the time for a stream grows with its length only, whatever it repeats", async () => {
  for (const [name, events] of STREAMS) {
    const api = HANDMADE_APIS.find((other) => other.name === name);
    if (!api) throw new Error(`No API ${name}`);
    const getTime = startThreadTimer();
    const { error } = await readHandmade(api, events);
    assertEquals(error?.code, "network_error", name);
    // Quadratic work takes several times as long; the bound allows for a busy machine.
    assertLess(getTime(), 600, `${name}: ${JSON.stringify(events.at(-1)).slice(0, 200)}`);
  }
});
