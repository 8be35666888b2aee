/**
 * The text of PDF documents.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { type IsolatedRequestOptions, requestFromIsolatedWorker } from "./document_worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

/** Options for {@linkcode extractPdfText}. */
export type PdfTextOptions = Omit<IsolatedRequestOptions, "subject">;

const SUBJECT = "The PDF document";

/**
 * Extracts the text of a document, with a line before each page.
 *
 * @throws {BadRequestError} When the document is damaged, encrypted or without text, or exceeds a limit.
 */
export async function extractPdfText(bytes: Uint8Array, options: PdfTextOptions): Promise<string> {
  const reply = await requestPages(bytes, options);
  if (reply.type !== "pages") {
    throw new BadRequestError(`${SUBJECT} cannot be read: ${reply.reason}`);
  }
  if (reply.pages.every((page) => page.trim() === "")) {
    throw new BadRequestError(
      `${SUBJECT} has ${reply.pages.length} pages without text, such as scanned images: convert them with a command`,
    );
  }
  return reply.pages.map((page, index) => `[Page ${index + 1}]\n${page.trim()}\n`).join("\n");
}

async function requestPages(bytes: Uint8Array, options: PdfTextOptions): Promise<PdfReply> {
  const request: PdfRequest = { bytes };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  const reply = await requestFromIsolatedWorker(module, request, { subject: SUBJECT, ...options });
  return reply as PdfReply; // from our own worker
}
