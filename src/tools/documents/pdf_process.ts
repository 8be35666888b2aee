/**
 * The process that reads one PDF document: from standard input, with the text on standard output.
 *
 * The document is read by a worker of the process, so that the process can measure time and memory meanwhile. It ends
 * although the worker never returns to its event loop, which an end of the worker alone does not achieve.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { getErrorMessage } from "../../core/errors.ts";
import { getNodeProcess } from "../../platform/builtin_modules.ts";
import { type DocumentLimits, requestFromWorker } from "./document_worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

/** Reply of the process: that of its worker, or the message of the error of a document that exceeds a limit. */
export type PdfProcessReply = PdfReply | { readonly type: "rejected"; readonly message: string };

/** Begins the reply; the output before it is that of the package. */
export const REPLY_PREFIX = "\u001e";

/** The subject of messages. */
export const PDF_SUBJECT = "The PDF document";

/** Runs the process. Its last argument is a {@linkcode DocumentLimits}. Never returns. */
export async function pdfProcessMain(): Promise<never> {
  const process = getNodeProcess();
  if (!process) throw new TypeError("A browser has no processes");
  const limits: DocumentLimits = JSON.parse(process.argv.at(-1) ?? "");
  const { promise: written, resolve } = createDeferred<void>();
  const reply = await readDocument(await readInput(process.stdin), limits);
  process.stdout.write(REPLY_PREFIX + JSON.stringify(reply), resolve);
  await written;
  return process.exit(0);
}

async function readInput(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of input) chunks.push(new Uint8Array(chunk));
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function readDocument(bytes: Uint8Array, limits: DocumentLimits): Promise<PdfProcessReply> {
  const request: PdfRequest = { bytes, dropsPermissions: true };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  const { signal } = new AbortController();
  try {
    const options = { subject: PDF_SUBJECT, signal, limits };
    return await requestFromWorker(module, request, options) as PdfReply; // from our own worker
  } catch (error) {
    return { type: "rejected", message: getErrorMessage(error) };
  }
}
