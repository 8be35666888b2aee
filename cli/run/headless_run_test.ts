import { assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import type { Reporter } from "../render/reporter.ts";
import { type HeadlessRunOptions, promptAgent } from "./headless_run.ts";
import { DeferredReporter } from "./report/deferred_reporter.ts";

Deno.test("promptAgent(): a closed output is noticed also if the model is reached without a request", async () => {
  const host = createFakeHost();
  let watches = 0;
  const watchOutput = () => {
    watches++;
    return { [Symbol.dispose]() {} };
  };
  const agent = new Agent({ model: "local/m", streamFn: scriptedStream([reply("Done.")]) });
  const run = {
    prompt: "Hi",
    host: { ...host, terminal: { ...host.terminal, watchOutput } },
    interrupt: { signal: new AbortController().signal, exitCode: undefined },
    firstRequest: new Promise<void>(() => {}),
    setup: { agent, takeWarnings: () => [] },
  } as unknown as HeadlessRunOptions;
  const reporter = { onEvent: () => Promise.resolve() } as unknown as Reporter;
  await promptAgent(run, new DeferredReporter(() => Promise.resolve(reporter)));
  assertEquals(watches, 1);
});
