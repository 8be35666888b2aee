import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createHistory, createSummarizer } from "../../../tests/memory/long_history.ts";
import type { TransformInput } from "../../core/context/context.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { fail, reply } from "../../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../testing/scripted_stream.ts";
import { summarize, type SummarizeOptions } from "./summarize.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };

/** Makes a cut with a summary by one of three models; returns the names of those that were called. */
async function cut(
  summaries: ScriptedStream,
  { signal = new AbortController().signal, checkRequest, ...options }:
    & Partial<SummarizeOptions>
    & Partial<Pick<TransformInput, "signal" | "checkRequest">> = {},
) {
  const fallback = ["p/second", "q/third"];
  const transform = createSummarizer({ streamFn: summaries, fallback, ...options });
  const input: TransformInput = {
    overflow: false,
    model: { provider: "p", modelId: "first", thinkingLevel: "high" },
    systemPrompt: "",
    tools: [],
    signal,
    checkRequest,
  };
  const output = await transform(createHistory(), input);
  const report = "report" in output ? output.report : undefined;
  return {
    report,
    models: summaries.calls.map(({ model: { provider, modelId } }) => `${provider}/${modelId}`),
  };
}

Deno.test("summarize(): the next model of fallback writes the summary when the calls of a model have failed", async () => {
  const summaries = scriptedStream([
    fail("auth_error", "invalid key", { usage }),
    fail("model_throttled", "overloaded", { usage }),
    reply("by the third", { usage }),
  ]);
  const { report, models } = await cut(summaries);
  assertEquals(models, ["p/first", "p/second", "q/third"]);
  assertEquals([report?.summary, report?.usage?.total], ["by the third", 300]);
});

Deno.test("summarize(): a model is retried before the next model of fallback is called", async () => {
  const summaries = scriptedStream([
    fail("model_throttled", "overloaded"),
    fail("model_throttled", "overloaded"),
    reply("by the second"),
  ]);
  const { models } = await cut(summaries, { retry: ({ attempt }) => attempt === 1 ? 0 : null });
  assertEquals(models, ["p/first", "p/first", "p/second"]);
});

Deno.test("summarize(): the report has the problem of the last model of fallback", async () => {
  const summaries = scriptedStream([
    fail("auth_error", "invalid key"),
    fail("auth_error", "no key"),
    fail("network_error", "no connection"),
  ]);
  const { report, models } = await cut(summaries);
  assertEquals(models.length, 3);
  assertEquals(report?.problem, "No summary was written: no connection");
});

Deno.test("summarize(): no model of fallback is called after the refusal of a policy", async () => {
  const stopped = { policy: "budget", reason: "too expensive" };
  const checkRequest = () => Promise.resolve(stopped);
  const { report, models } = await cut(scriptedStream([]), { checkRequest });
  assertEquals(models, []);
  assertEquals(report?.problem, "No summary was written: too expensive");
});

Deno.test("summarize(): no model of fallback is called when the run is aborted", async () => {
  const run = new AbortController();
  const summaries = scriptedStream([fail("network_error", "no connection"), reply("second")]);
  const retry = () => {
    run.abort();
    return null;
  };
  await assertRejects(() => cut(summaries, { signal: run.signal, retry }), AbortedError);
  assertEquals(summaries.calls.length, 1);
});

Deno.test("summarize(): refuses invalid models", () => {
  const create = (options: unknown) =>
    summarize({
      streamFn: scriptedStream([]),
      contextWindow: 10_000,
      ...options as Partial<SummarizeOptions>,
    });
  const invalid: readonly [options: unknown, message: string][] = [
    [{ fallback: ["third"] }, '"third"'],
    [{ fallback: [, "p/second"] }, "provider"],
    [{ fallback: "p/second" }, "fallback must be an array"],
    [{ fallback: null }, "fallback must be an array"],
    [{ model: "first" }, '"first"'],
    [{ model: {} }, "provider"],
  ];
  for (const [options, message] of invalid) {
    assertThrows(() => create(options), BadRequestError, message);
  }
});
