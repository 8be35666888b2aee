/**
 * The text of PDF documents.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { type IsolatedRequestOptions, requestFromIsolatedWorker } from "./document_worker.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";

/** Options for {@linkcode extractPdfText}. */
export type PdfTextOptions = Omit<IsolatedRequestOptions, "subject">;

const SUBJECT = "The PDF document";
const CONVERSION = "convert the document with a command such as pdftotext";

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
  const { pages, missingEncodings } = reply;
  const encodings = missingEncodings.join(", ");
  if (pages.every((page) => page.trim() === "")) {
    const reason = encodings === ""
      ? "pages without text, such as scanned images: convert them with a command"
      : `pages whose text has an encoding that is not supported (${encodings}): ${CONVERSION}`;
    throw new BadRequestError(`${SUBJECT} has ${pages.length} ${reason}`);
  }
  const notice = encodings === ""
    ? ""
    : `[Text is missing, because its encoding is not supported (${encodings}): ${CONVERSION}]\n\n`;
  return notice +
    pages.map((page, index) => `[Page ${index + 1}]\n${page.trim()}\n`).join("\n");
}

async function requestPages(bytes: Uint8Array, options: PdfTextOptions): Promise<PdfReply> {
  const request: PdfRequest = { bytes };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  const reply = await requestFromIsolatedWorker(module, request, { subject: SUBJECT, ...options });
  return reply as PdfReply; // from our own worker
}
