import { assertEquals, assertRejects } from "@std/assert";
import { createDeadline } from "../../../tests/deadline.ts";
import { BadRequestError } from "../../core/errors.ts";
import { DOCUMENT_LIMITS, requestFromWorker } from "./document_worker.ts";

/** A module whose worker runs code for its first message. */
function createModule(code: string): URL {
  const module = new URL("../../platform/worker.ts", import.meta.url);
  const source = `import { getParentThread } from ${JSON.stringify(module)};
const parent = getParentThread();
parent.onMessage((message) => { ${code} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

const createOptions = () => ({ subject: "The document", signal: createDeadline() });

Deno.test("requestFromWorker(): returns the reply of the worker", async () => {
  const module = createModule("parent.postMessage(message + 1);");
  assertEquals(await requestFromWorker(module, 1, createOptions()), 2);
});

Deno.test("requestFromWorker(): ends a worker that takes too much memory, also in arrays of bytes", async () => {
  const module = createModule(
    "const all = []; setInterval(() => all.push(new Uint8Array(10_000_000).fill(1)));",
  );
  const limits = { ...DOCUMENT_LIMITS, maxGrowthBytes: 200_000_000 };
  await assertRejects(
    () => requestFromWorker(module, 1, { ...createOptions(), limits }),
    BadRequestError,
    "The document takes too much memory to read",
  );
});
