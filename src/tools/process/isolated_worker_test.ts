import { assertEquals, assertStringIncludes } from "@std/assert";
import { choosePackages } from "../../../scripts/packages.ts";
import { createDeadline } from "../../../tests/deadline.ts";
import { root } from "../../../tests/project.ts";
import { READY_MESSAGE, type WorkerThread } from "../../platform/worker.ts";
import type { MatchRequest } from "../search/match_worker.ts";
import { startWorkerProcess } from "./isolated_worker.ts";
import { encodeFrame, FrameDecoder } from "./message_frames.ts";
import { WORKER_ARGUMENT, type WorkerProcessSettings } from "./worker_process_protocol.ts";

const MODULE = new URL("../search/match_worker.ts", import.meta.url);

const REQUEST: MatchRequest = {
  bytes: new TextEncoder().encode("a\nb\n"),
  pattern: { source: "b", ignoreCase: false, multiline: false },
  limit: 10,
};

const FOUND = { hits: [{ line: 2, column: 0, offset: 2 }], isBinary: false };

/** Returns the next message of a worker, or the message of its error. */
function receive(worker: WorkerThread): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  worker.onMessage(resolve);
  worker.onError((message) => resolve(new Error(message)));
  return promise;
}

function start(module = MODULE): WorkerThread {
  const worker = startWorkerProcess(module);
  if (worker) return worker;
  throw new Error("No process was started");
}

Deno.test("startWorkerProcess(): relays messages, and reports the error of a message that fails", async () => {
  const worker = start();
  assertEquals(await receive(worker), READY_MESSAGE);
  worker.postMessage(REQUEST);
  assertEquals(await receive(worker), FOUND);
  worker.postMessage({ ...REQUEST, bytes: undefined });
  assertEquals(await receive(worker) instanceof Error, true);
  await worker.terminate();
});

Deno.test("startWorkerProcess(): reports a process that ends, also to a later listener", async () => {
  const worker = start(new URL("../missing_worker.ts", import.meta.url));
  const first = await receive(worker);
  assertStringIncludes(String(first), "missing_worker");
  await worker.terminate();
  assertEquals(String(await receive(worker)), String(first));
});

Deno.test("swink: is the process of a worker, as where it is compiled, until its standard input ends", async () => {
  const { config } = await choosePackages();
  const program = ["-A", "-c", config, new URL("cli/main.ts", root).href];
  const settings: WorkerProcessSettings = {
    module: "tools/search/match_worker.ts",
    maxGrowthBytes: 1e9,
  };
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", ...program, WORKER_ARGUMENT, JSON.stringify(settings)],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(encodeFrame(REQUEST));
  const decoder = new FrameDecoder();
  const messages: unknown[] = [];
  for await (const chunk of process.stdout) {
    messages.push(...decoder.push(chunk));
    if (messages.length === 2) await writer.close();
  }
  assertEquals(messages, [
    { type: "message", message: READY_MESSAGE },
    { type: "message", message: FOUND },
  ]);
  assertEquals((await process.status).code, 0);
});
