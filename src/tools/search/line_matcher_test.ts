import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import { codingTools } from "../coding_tools.ts";
import { AbortedError } from "../../core/errors.ts";
import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import { isDeno } from "../../platform/system.ts";
import { createLineMatcher, type LineMatcher } from "./line_matcher.ts";

const BYTES = new TextEncoder().encode(`${"a".repeat(60)}!\nfoo.bar.baz\n`);
const FOUND = { hits: [{ line: 2, column: 0, offset: 62 }], isBinary: false };
/** Takes more than the age of the universe. */
const HANGING = "^(a+)+$";

/**
 * Replaces `Worker` by one that records which of its instances run, and calls `onRequest` for each message to one.
 * Disposing of the result restores the original.
 */
function recordWorkers(onRequest = () => {}) {
  const scope = getWorkerScope();
  const { Worker } = scope;
  const running = new Set<Worker>();
  scope.Worker = class extends Worker {
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
      scope.Worker = Worker;
    },
  };
}

interface WorkerScope {
  Worker: typeof Worker;
}

/** Returns the object that has the class `Worker`, which is a module on Node and Deno. */
function getWorkerScope(): WorkerScope {
  if (typeof Worker !== "undefined" && !isDeno) return globalThis;
  return getBuiltinModule("node:worker_threads") as unknown as WorkerScope;
}

const LIMITS = { limit: 10, timeoutMs: 3_000 };
/** For matches whose result does not matter. */
const SHORT = { limit: 10, timeoutMs: 100 };

function createMatcher(source: string, signal = new AbortController().signal): LineMatcher {
  return createLineMatcher({ source, ignoreCase: false, multiline: false }, signal);
}

Deno.test("createLineMatcher(): matches a pattern with nested repetitions in a worker, which disposing of it ends", async () => {
  using workers = recordWorkers();
  const matcher = createMatcher("(\\w+\\.)+baz");
  const matches = await matcher.match(BYTES, LIMITS);
  assertEquals(matches, FOUND);
  assertEquals(workers.running.size, 1);
  await matcher.match(BYTES, LIMITS);
  assertEquals(workers.running.size, 1);
  matcher[Symbol.dispose]();
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): returns nothing after the timeout, ends the worker that hangs, and starts another one", async () => {
  const requested = Promise.withResolvers<void>();
  using workers = recordWorkers(requested.resolve);
  const settled: unknown[] = [];
  using matcher = createMatcher(HANGING);
  {
    using time = new FakeTime();
    void Promise.resolve(matcher.match(BYTES, LIMITS)).then((found) => settled.push(found));
    await requested.promise;
    await time.tickAsync(2_999);
    assertEquals(settled, []);
    await time.tickAsync(1);
    await time.runMicrotasks();
  }
  assertEquals(settled, [undefined]);
  assertEquals(workers.running.size, 0);
  const short = new TextEncoder().encode("aaa\n");
  assertEquals(await matcher.match(short, LIMITS), {
    hits: [{ line: 1, column: 0, offset: 0 }],
    isBinary: false,
  });
});

Deno.test("createLineMatcher(): an abort ends the wait for a worker that hangs", async () => {
  using workers = recordWorkers();
  const controller = new AbortController();
  const matcher = createMatcher(HANGING, controller.signal);
  const matching = matcher.match(BYTES, LIMITS);
  controller.abort();
  const later = matcher.match(BYTES, LIMITS);
  matcher[Symbol.dispose]();
  assertEquals(workers.running.size, 0);
  await assertRejects(async () => await matching, AbortedError, "The search was cancelled");
  await assertRejects(async () => await later, AbortedError, "The search was cancelled");
});

Deno.test("createLineMatcher(): starts no worker for a pattern of bounded cost", () => {
  using workers = recordWorkers();
  using matcher = createMatcher("foo.*baz");
  assertEquals(matcher.match(BYTES, LIMITS), FOUND);
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): the length of a line and the ways of a pattern decide about the worker", async () => {
  using workers = recordWorkers();
  const usesWorker = async (source: string, length: number): Promise<boolean> => {
    const count = workers.running.size;
    using matcher = createMatcher(source);
    const matched = matcher.match(new TextEncoder().encode("a".repeat(length)), SHORT);
    const started = workers.running.size > count;
    await matched;
    return started;
  };
  assertEquals(await usesWorker("a*b", 2_000), false);
  assertEquals(await usesWorker("a*b", 4_000), true);
  assertEquals(await usesWorker(`${"a?".repeat(12)}b`, 100), false);
  assertEquals(await usesWorker(`${"a?".repeat(20)}b`, 100), true);
});

Deno.test("search_files: an abort ends a search for a pattern that hangs, with its worker", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", BYTES);
  const controller = new AbortController();
  using workers = recordWorkers(() => controller.abort());
  const tools = codingTools({ sandbox: withoutPrograms(workspace.sandbox) });
  const tool = tools.find(({ name }) => name === "search_files");
  const context = testToolContext({ signal: controller.signal });
  const result = await tool?.execute({ pattern: HANGING }, context);
  assertEquals(workers.running.size, 0);
  assertStringIncludes(JSON.stringify(result), "cancelled");
});
