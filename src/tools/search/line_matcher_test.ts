import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import { findWorkerProcesses, waitForBusyWorker } from "../../../tests/sandbox/worker_processes.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import { startWorker, type WorkerThread } from "../../platform/worker.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { codingTools } from "../coding_tools.ts";
import { startIsolatedWorker } from "../process/isolated_worker.ts";
import { createLineMatcher, type LineMatcher, type LineMatcherOptions } from "./line_matcher.ts";

const BYTES = new TextEncoder().encode(`${"a".repeat(60)}!\nfoo.bar.baz\n`);
const FOUND = { hits: [{ line: 2, column: 0, offset: 62 }], isBinary: false };
/** Takes more than the age of the universe. */
const HANGING = "^(a+)+$";

/** Starts threads, records which of them run, and calls `onRequest` for each message to one. */
function recordWorkers(onRequest = () => {}) {
  const running = new Set<WorkerThread>();
  const start = (module: URL): WorkerThread => {
    const worker = startWorker(module);
    const recorded: WorkerThread = {
      postMessage(message) {
        worker.postMessage(message);
        onRequest();
      },
      onMessage: (listener) => worker.onMessage(listener),
      onError: (listener) => worker.onError(listener),
      async terminate() {
        running.delete(recorded);
        await worker.terminate();
      },
    };
    running.add(recorded);
    return recorded;
  };
  return { running, start };
}

const LIMITS = { limit: 10, timeoutMs: 3_000 };
/** For matches whose result does not matter. */
const SHORT = { limit: 10, timeoutMs: 100 };

function createMatcher(
  source: string,
  options: Partial<LineMatcherOptions> = {},
): LineMatcher {
  const pattern = { source, ignoreCase: false, multiline: false };
  return createLineMatcher(pattern, { signal: new AbortController().signal, ...options });
}

Deno.test("createLineMatcher(): matches a pattern with nested repetitions in a worker, which disposing of it ends", async () => {
  const workers = recordWorkers();
  const matcher = createMatcher("(\\w+\\.)+baz", { startWorker: workers.start });
  const matches = await matcher.match(BYTES, LIMITS);
  assertEquals(matches, FOUND);
  assertEquals(workers.running.size, 1);
  await matcher.match(BYTES, LIMITS);
  assertEquals(workers.running.size, 1);
  await matcher[Symbol.asyncDispose]();
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): returns nothing after the timeout, ends the worker that hangs, and starts another one", async () => {
  const requested = Promise.withResolvers<void>();
  const workers = recordWorkers(requested.resolve);
  const settled: unknown[] = [];
  await using matcher = createMatcher(HANGING, { startWorker: workers.start });
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
  const workers = recordWorkers();
  const controller = new AbortController();
  const matcher = createMatcher(HANGING, {
    signal: controller.signal,
    startWorker: workers.start,
  });
  const matching = matcher.match(BYTES, LIMITS);
  controller.abort();
  const later = matcher.match(BYTES, LIMITS);
  await matcher[Symbol.asyncDispose]();
  assertEquals(workers.running.size, 0);
  await assertRejects(async () => await matching, AbortedError, "The search was cancelled");
  await assertRejects(async () => await later, AbortedError, "The search was cancelled");
});

Deno.test("createLineMatcher(): starts no worker for a pattern of bounded cost", async () => {
  const workers = recordWorkers();
  await using matcher = createMatcher("foo.*baz", { startWorker: workers.start });
  assertEquals(matcher.match(BYTES, LIMITS), FOUND);
  assertEquals(workers.running.size, 0);
});

Deno.test("createLineMatcher(): the length of a line and the ways of a pattern decide about the worker", async () => {
  const workers = recordWorkers();
  const usesWorker = async (source: string, length: number): Promise<boolean> => {
    const count = workers.running.size;
    await using matcher = createMatcher(source, { startWorker: workers.start });
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

const ignore = Deno.build.os !== "linux"; // without the processes of /proc

Deno.test({
  name:
    "createLineMatcher(): the process of a pattern that hangs ends after the timeout, and another one is started",
  ignore,
  async fn() {
    await using matcher = createMatcher(HANGING, {
      startWorker: (module) => startIsolatedWorker(module, { maxGrowthBytes: 2_000_000_011 }),
    });
    assertEquals(await matcher.match(BYTES, { limit: 10, timeoutMs: 300 }), undefined);
    assertEquals(await findWorkerProcesses(2_000_000_011), []);
    const short = new TextEncoder().encode("aaa\n");
    assertEquals(await matcher.match(short, { limit: 10, timeoutMs: 60_000 }), {
      hits: [{ line: 1, column: 0, offset: 0 }],
      isBinary: false,
    });
  },
});

Deno.test({
  name: "search_files: an abort ends a search for a pattern that hangs, with its process",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("a.txt", BYTES);
    const controller = new AbortController();
    const tools = codingTools({ sandbox: withoutPrograms(workspace.sandbox) });
    const tool = tools.find(({ name }) => name === "search_files");
    const context = testToolContext({ signal: controller.signal });
    const others = await findWorkerProcesses("match_worker");
    const search = tool?.execute({ pattern: HANGING }, context);
    const id = await waitForBusyWorker("match_worker", { others });
    controller.abort();
    assertStringIncludes(JSON.stringify(await search), "cancelled");
    assertEquals((await findWorkerProcesses("match_worker")).includes(id), false);
  },
});
