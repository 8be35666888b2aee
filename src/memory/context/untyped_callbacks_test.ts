import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHistory } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import { fail, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize, type SummarizeOptions } from "./summarize.ts";

const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };
const reject = () => Promise.reject(new Error("no network"));

/** Runs a prompt whose request exceeds the context window, with options of untyped code. */
async function runCompaction(
  options: { readonly [Name in keyof SummarizeOptions]?: unknown },
  step: ScriptedStep = reply("summary", { usage }),
) {
  const transform = summarize({
    ...{ streamFn: scriptedStream([step]), contextWindow: 10_000, keepSteps: 1 },
    ...options as Partial<SummarizeOptions>,
  });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: transform,
    messages: createHistory(),
  });
  return { ...await agent.prompt("go on"), transform };
}

for (const name of ["contextWindow", "pin", "countTokens"]) {
  Deno.test(`summarize(): a ${name} that returns a promise fails the run, also when the promise rejects`, async () => {
    for (const callback of [reject, () => Promise.resolve(1)]) {
      const { error } = await runCompaction({ [name]: callback });
      assertStringIncludes(error?.message ?? "", `${name} returned a promise`);
    }
  });
}

Deno.test("slidingWindow(): a pin that returns a promise fails the run", async () => {
  const pin = reject as unknown as () => boolean;
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok")]),
    transformContext: slidingWindow({ contextWindow: 10_000, pin }),
    messages: createHistory(),
  });
  assertStringIncludes(
    (await agent.prompt("go on")).error?.message ?? "",
    "pin returned a promise",
  );
});

Deno.test("summarize(): streamFn may return a promise of its stream", async () => {
  const streamFn = scriptedStream([reply("summary", { usage })]);
  const opened = await runCompaction({
    streamFn: (request: never) => Promise.resolve(streamFn(request)),
  });
  assertEquals([opened.transform.cut?.summary, opened.usage.total], ["summary", 100]);
  const rejected = await runCompaction({ streamFn: reject });
  assertEquals([rejected.text, rejected.transform.cut], ["ok", undefined]);
});

Deno.test("summarize(): prices and retry strategies that fail end no run", async () => {
  const invalid = [reject, () => ({ input: 1, output: 1, tiers: 5 }), () => {
    throw new Error("no prices");
  }];
  for (const prices of invalid) {
    const { text, usage: total, cost } = await runCompaction({ prices });
    assertEquals([text, total.total, cost.total], ["ok", 100, null]);
  }
  const { text } = await runCompaction(
    { retry: reject },
    fail("network_error", "Connection reset"),
  );
  assertEquals(text, "ok");
});

Deno.test("summarize(): token counts of an untyped model are repaired", async () => {
  const reported = { input: 5, extra: null } as unknown as typeof usage;
  const rates = { "p/m": { input: 1, output: 1 } };
  const result = await runCompaction({ prices: rates }, reply("summary", { usage: reported }));
  assertEquals([result.error, result.usage.total], [undefined, 5]);
  assert(result.cost.total !== null && result.cost.total > 0);
});

Deno.test("summarize(): a stream function whose deltas are no texts writes no summary", async () => {
  const deltas: readonly (() => unknown)[] = [() => undefined, () => 7, () => ({ a: 1 }), reject];
  for (const createDelta of deltas) {
    const delta = createDelta();
    const streamFn = scriptedStream([[
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: delta as string },
      { type: "text_end", contentIndex: 0 },
      { type: "done", stopReason: "stop", usage },
    ]]);
    const { error, transform } = await runCompaction({ streamFn, retry: () => null });
    assertEquals([error, transform.cut], [undefined, undefined]);
  }
});
