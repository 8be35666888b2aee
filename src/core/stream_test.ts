import { assertEquals } from "@std/assert";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { reply } from "../testing/script.ts";
import { collectEvents } from "../testing/collect_events.ts";
import { modelSpec } from "./model.ts";
import type { StreamFn, StreamOptions } from "./stream.ts";

Deno.test("2.12 nothing has to be said about how a model is asked", async () => {
  const options: StreamOptions = {};
  const streamFn: StreamFn = scriptedStream([reply("Hi")]);
  const events = await collectEvents(streamFn({
    model: modelSpec("test/model"),
    context: { systemPrompt: "", messages: [], tools: [] },
    options,
    signal: new AbortController().signal,
  }));
  assertEquals(events.at(-1)?.type, "done");
  assertEquals([options.temperature, options.maxTokens, options.transport ?? "sse"], [
    undefined,
    undefined,
    "sse",
  ]);
});
