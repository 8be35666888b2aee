import { assertEquals, assertRejects } from "@std/assert";
import { createDeadline } from "../../../tests/deadline.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { startWorker, type WorkerThread } from "../../platform/worker.ts";
import { requestFromWorker } from "./document_worker.ts";

/** Starts a worker that runs code for its first message. */
function startWith(code: string): WorkerThread {
  const module = new URL("../../platform/worker.ts", import.meta.url);
  const source = `import { getParentThread } from ${JSON.stringify(module)};
const parent = getParentThread();
parent.onMessage((message) => { ${code} });`;
  return startWorker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
}

const createOptions = () => ({ subject: "The document", signal: createDeadline() });

Deno.test("requestFromWorker(): returns the reply of the worker", async () => {
  const worker = startWith("parent.postMessage(message + 1);");
  assertEquals(await requestFromWorker(worker, 1, createOptions()), 2);
});

Deno.test("requestFromWorker(): ends a worker that takes too much memory, also in arrays of bytes", async () => {
  const worker = startWith(
    "const all = []; setInterval(() => all.push(new Uint8Array(10_000_000).fill(1)));",
  );
  await assertRejects(
    () => requestFromWorker(worker, 1, { ...createOptions(), maxGrowthBytes: 200_000_000 }),
    BadRequestError,
    "The document takes too much memory to read",
  );
});
