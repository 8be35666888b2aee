/**
 * The text of PDF documents.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { startWorker } from "../../platform/worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

/** Time limit for one document, the first download of the package included. */
const TIMEOUT_MS = 30_000;

/**
 * Extracts the text of a document, with a line before each page.
 *
 * @throws {BadRequestError} When the document is damaged, encrypted or without text, or takes longer than 30 s.
 */
export async function extractPdfText(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  const reply = await requestPages(bytes, signal);
  if (reply.type === "failed") {
    throw new BadRequestError(`The PDF document cannot be read: ${reply.reason}`);
  }
  if (reply.pages.every((page) => page.trim() === "")) {
    throw new BadRequestError(
      `The PDF document has ${reply.pages.length} pages without text, such as scanned images: convert them with a command`,
    );
  }
  return reply.pages.map((page, index) => `[Page ${index + 1}]\n${page.trim()}\n`).join("\n");
}

async function requestPages(bytes: Uint8Array, signal: AbortSignal): Promise<PdfReply> {
  const worker = startWorker(new URL("./pdf_worker.ts", import.meta.url));
  const { promise, resolve, reject } = createDeferred<unknown>();
  const cancel = () => reject(new AbortedError("Reading was cancelled"));
  const timer = setTimeout(
    () => reject(new BadRequestError("The PDF document takes longer than 30 s to read")),
    TIMEOUT_MS,
  );
  worker.onMessage(resolve);
  worker.onError((message) => reject(new BadRequestError(`The PDF document failed: ${message}`)));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const request: PdfRequest = { bytes };
    worker.postMessage(request);
    return await promise as PdfReply; // from our own worker
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    worker.terminate();
  }
}
