import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { createLineMatcher, type LineMatcher } from "./line_matcher.ts";

const BYTES = new TextEncoder().encode(`${"a".repeat(60)}!\nfoo.bar.baz\n`);
/** Takes more than the age of the universe. */
const HANGING = /^(a+)+$/u;

/**
 * Replaces `Worker` by one that records which of its instances run, and calls `onRequest` for each message to one.
 * Disposing of the result restores the original.
 */
function recordWorkers(onRequest = () => {}) {
  const { Worker } = globalThis;
  const running = new Set<Worker>();
  globalThis.Worker = class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      running.add(this);
    }

    override postMessage(message: unknown): void {
      super.postMessage(message);
      onRequest();
    }

    override terminate(): void {
      running.delete(this);
      super.terminate();
    }
  };
  return {
    running,
    [Symbol.dispose]() {
      for (const worker of running) worker.terminate();
      globalThis.Worker = Worker;
    },
  };
}

function createMatcher(expression: RegExp, signal = new AbortController().signal): LineMatcher {
  return createLineMatcher({ expression, context: 0 }, signal);
}

Deno.test("createLineMatcher(): matches a pattern with nested repetitions in a worker, which disposing of it ends", async () => {
  using workers = recordWorkers();
  const matcher = createMatcher(/(\w+\.)+baz/u);
  const matches = await matcher.match(BYTES);
  assertEquals(matches, [{ text: "2: foo.bar.baz" }]);
  assertEquals(workers.running.size, 1);
  await matcher.match(BYTES);
  assertEquals(workers.running.size, 1);
  matcher[Symbol.dispose]();
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): rejects after 3 s, and disposing of the matcher ends the worker that hangs", async () => {
  const requested = Promise.withResolvers<void>();
  using workers = recordWorkers(requested.resolve);
  using time = new FakeTime();
  const matcher = createMatcher(HANGING);
  const errors: unknown[] = [];
  void Promise.resolve(matcher.match(BYTES)).catch((error) => errors.push(error));
  await requested.promise;
  await time.tickAsync(2_999);
  assertEquals(errors, []);
  await time.tickAsync(1);
  await time.runMicrotasks();
  assertInstanceOf(errors[0], BadRequestError);
  assertStringIncludes(errors[0].message, "takes too long");
  assertEquals(workers.running.size, 1);
  matcher[Symbol.dispose]();
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): an abort ends the wait for a worker that hangs", async () => {
  using workers = recordWorkers();
  const controller = new AbortController();
  const matcher = createMatcher(HANGING, controller.signal);
  const matching = matcher.match(BYTES);
  controller.abort();
  const later = matcher.match(BYTES);
  matcher[Symbol.dispose]();
  assertEquals(workers.running.size, 0);
  await assertRejects(async () => await matching, AbortedError, "The search was cancelled");
  await assertRejects(async () => await later, AbortedError, "The search was cancelled");
});

Deno.test("createLineMatcher(): starts no worker for a pattern of bounded cost", () => {
  using workers = recordWorkers();
  using matcher = createMatcher(/foo.*baz/u);
  assertEquals(matcher.match(BYTES), [{ text: "2: foo.bar.baz" }]);
  assertEquals(workers.running.size, 0);
});

Deno.test("search_files: an abort ends a search for a pattern that hangs, with its worker", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", BYTES);
  const controller = new AbortController();
  using workers = recordWorkers(() => controller.abort());
  const args = { pattern: HANGING.source };
  const { isError, text } = await workspace.callTool("search_files", args, controller.signal);
  assertEquals([isError, workers.running.size], [true, 0]);
  assertStringIncludes(text, "cancelled");
});
