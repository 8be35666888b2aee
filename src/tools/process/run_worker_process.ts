/**
 * The process of a worker: relays messages between standard input and output and a worker.
 *
 * The process measures its memory and sees the end of the program that started it while the worker is busy. The end of a
 * worker alone does not end code that never returns to its event loop; the end of the process does.
 *
 * @module
 */

import { getNodeProcess, type NodeProcess } from "../../platform/builtin_modules.ts";
import { isDeno } from "../../platform/system.ts";
import { startWorker, type WorkerThread } from "../../platform/worker.ts";
import { encodeFrame, FrameDecoder } from "./message_frames.ts";
import {
  MEMORY_EXIT_CODE,
  type WorkerProcessReply,
  type WorkerProcessSettings,
} from "./worker_process_protocol.ts";

/** Interval at which the memory is measured. */
const MEASURE_MS = 100;

/** Runs the process, until its standard input ends. Its last argument is a {@linkcode WorkerProcessSettings}. */
export async function runWorkerProcess(): Promise<never> {
  const process = getNodeProcess();
  if (!process) throw new TypeError("A browser has no processes");
  const { module, maxGrowthBytes }: WorkerProcessSettings = JSON.parse(process.argv.at(-1) ?? "");
  limitMemory(process, maxGrowthBytes);
  const worker = startWorker(new URL(`../../${module}`, import.meta.url));
  const ready = relayReplies(worker, process);
  const decoder = new FrameDecoder();
  for await (const chunk of process.stdin) {
    for (const message of decoder.push(chunk)) void ready.then(() => worker.postMessage(message));
  }
  return process.exit(0);
}

function limitMemory(process: NodeProcess, maxGrowthBytes: number): void {
  const { memoryUsage } = process;
  if (!memoryUsage) return;
  const before = memoryUsage.rss();
  setInterval(() => {
    if (memoryUsage.rss() - before > maxGrowthBytes) process.exit(MEMORY_EXIT_CODE);
  }, MEASURE_MS);
}

/** Relays what the worker sends. Resolves after its first message, with which it has loaded its modules. */
function relayReplies(worker: WorkerThread, process: NodeProcess): Promise<void> {
  const send = (reply: WorkerProcessReply) => process.stdout.write(encodeFrame(reply));
  return new Promise((resolve) => {
    let isReady = false;
    worker.onMessage((message) => {
      if (!isReady) dropPermissions();
      isReady = true;
      send({ type: "message", message });
      resolve();
    });
    worker.onError((message) => send({ type: "error", message }));
  });
}

/** Drops the permissions of the process and its worker. The compiled program starts with all of them. */
function dropPermissions(): void {
  if (!isDeno) return;
  for (const name of ["run", "read", "write", "net", "env", "sys", "ffi", "import"] as const) {
    // deno-lint-ignore swink/portable -- only Deno has permissions
    Deno.permissions.revokeSync({ name });
  }
}
