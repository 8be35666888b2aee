import { assertEquals, assertThrows } from "@std/assert";
import type { Instrumentation, RunObserver } from "../../core/hooks/instrumentation.ts";
import { startObserver } from "./safe_observer.ts";

const run = {
  runId: "r",
  model: { provider: "any", modelId: "model", thinkingLevel: "off" },
  getTools: () => [],
  isAborted: () => false,
} as const;
const request = {
  model: run.model,
  context: { systemPrompt: "", messages: [], tools: [] },
  options: {},
};

function observe(observer: Partial<RunObserver>): RunObserver {
  const complete: RunObserver = {
    onEvent: () => {},
    callModel: (_request, call) => call(),
    executeTool: (_id, execute) => execute(),
    onCancel: () => {},
    getTraceHeaders: () => ({ traceparent: "t" }),
    ...observer,
  };
  const started = startObserver({ observeRun: () => complete }, run);
  if (!started) throw new Error("The observer was not started");
  return started;
}

function throwNow(): never {
  throw new Error("observer");
}

Deno.test("startObserver(): returns nothing without an instrumentation, or with one that throws", () => {
  const broken: Instrumentation = { observeRun: throwNow };
  assertEquals(startObserver(undefined, run), undefined);
  assertEquals(startObserver(broken, run), undefined);
});

Deno.test("startObserver(): ignores failures of the observer and does the work itself", () => {
  const observer = observe({
    onEvent: throwNow,
    callModel: throwNow,
    executeTool: throwNow,
    onCancel: throwNow,
    getTraceHeaders: throwNow,
  });
  observer.onCancel("c", "aborted");
  observer.onEvent({ type: "turn_start", turn: 1 });
  assertEquals(observer.callModel(request, () => 1), 1);
  assertEquals(observer.executeTool("c", () => 2), 2);
  assertEquals(observer.getTraceHeaders("c"), {});
});

Deno.test("startObserver(): does the work once, whatever the observer does with it", () => {
  let count = 0;
  const work = () => ++count;
  const never = observe({ executeTool: () => 0 as never });
  assertEquals(never.executeTool("c", work), 1);
  const twice = observe({
    executeTool: (_id, execute) => {
      execute();
      return execute();
    },
  });
  assertEquals(twice.executeTool("c", work), 2);
  const late = observe({
    executeTool: (_id, execute) => {
      execute();
      throwNow();
    },
  });
  assertEquals(late.executeTool("c", work), 3);
  assertEquals(count, 3);
});

Deno.test("startObserver(): throws what the work throws", () => {
  const observer = observe({});
  const fail = () => {
    throw new RangeError("tool");
  };
  assertThrows(() => observer.executeTool("c", fail), RangeError, "tool");
});
