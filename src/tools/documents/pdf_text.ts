/**
 * The text of PDF documents.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { startWorker } from "../../platform/worker.ts";
import { type IsolatedWorkerOptions, startIsolatedWorker } from "../process/isolated_worker.ts";
import { requestFromWorker, type WorkerRequestOptions } from "./document_worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

/** Options for {@linkcode extractPdfText}. */
export interface PdfTextOptions
  extends Pick<WorkerRequestOptions, "signal" | "timeoutMs">, IsolatedWorkerOptions {}

/**
 * Extracts the text of a document, with a line before each page.
 *
 * @throws {BadRequestError} When the document is damaged, encrypted or without text, or exceeds a limit.
 */
export async function extractPdfText(bytes: Uint8Array, options: PdfTextOptions): Promise<string> {
  const reply = await requestPages(bytes, options);
  if (reply.type !== "pages") {
    throw new BadRequestError(`The PDF document cannot be read: ${reply.reason}`);
  }
  if (reply.pages.every((page) => page.trim() === "")) {
    throw new BadRequestError(
      `The PDF document has ${reply.pages.length} pages without text, such as scanned images: convert them with a command`,
    );
  }
  return reply.pages.map((page, index) => `[Page ${index + 1}]\n${page.trim()}\n`).join("\n");
}

async function requestPages(
  bytes: Uint8Array,
  { signal, timeoutMs, maxGrowthBytes }: PdfTextOptions,
): Promise<PdfReply> {
  const request: PdfRequest = { bytes };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  const options = { subject: "The PDF document", signal, timeoutMs };
  const worker = startIsolatedWorker(module, { maxGrowthBytes });
  const reply = await requestFromWorker(worker, request, options) as PdfReply; // from our own worker
  if (reply.type !== "package_missing") return reply;
  // This program may find a package that another process does not find, such as by its configuration.
  return await requestFromWorker(startWorker(module), request, options) as PdfReply;
}
