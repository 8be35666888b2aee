/**
 * The text of PDF documents.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { requestFromWorker } from "./document_worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

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
  const request: PdfRequest = { bytes };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  const options = { subject: "The PDF document", signal };
  return await requestFromWorker(module, request, options) as PdfReply; // from our own worker
}
