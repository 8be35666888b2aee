import { assertEquals, assertStrictEquals } from "@std/assert";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { modelSpec } from "../models/model.ts";
import type { StreamFn, StreamRequest } from "./stream.ts";
import { wrapStreamFn } from "./wrap_stream_fn.ts";

const request: StreamRequest = {
  model: modelSpec("test/model"),
  context: { systemPrompt: "", messages: [], tools: [] },
  options: { seed: 1 },
  runId: "run_1",
  turn: 2,
  signal: new AbortController().signal,
};

Deno.test("wrapStreamFn() passes requests on, and its function may change them", async () => {
  const inner = scriptedStream([reply("One"), reply("Two")]);
  const seen: StreamRequest[] = [];
  const unchanged = wrapStreamFn(inner, (request, next) => {
    seen.push(request);
    return next(request);
  });
  const changed = wrapStreamFn(
    unchanged,
    (request, next) => next({ ...request, options: { ...request.options, temperature: 0 } }),
  );
  await Array.fromAsync(unchanged(request));
  await Array.fromAsync(changed(request));
  assertStrictEquals(seen[0], request);
  assertEquals(inner.calls.map(({ options, runId, turn }) => [options, runId, turn]), [
    [{ seed: 1 }, "run_1", 2],
    [{ seed: 1, temperature: 0 }, "run_1", 2],
  ]);
});

Deno.test("wrapStreamFn() keeps what the wrapped function knows about its models", () => {
  const abilities: Pick<StreamFn, "hasStrictSchema" | "prices" | "contextWindow"> = {
    hasStrictSchema: () => true,
    prices: { "test/model": { input: 1, output: 2 } },
    contextWindow: () => 1000,
  };
  const known = Object.assign(scriptedStream([]), abilities);
  const wrapped = wrapStreamFn(
    wrapStreamFn(known, (request, next) => next(request)),
    (request, next) => next(request),
  );
  assertEquals({ ...wrapped }, abilities);
  const unknown = wrapStreamFn(scriptedStream([]), (request, next) => next(request));
  assertEquals(Object.keys(unknown), []);
});
