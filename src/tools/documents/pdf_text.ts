/**
 * The text of PDF documents.
 *
 * @module
 */

import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { type ProcessOutcome, watchProcess } from "../process/watch_process.ts";
import type { RunningProcess } from "../process/running_process.ts";
import {
  createTimeoutError,
  DOCUMENT_LIMITS,
  type DocumentLimits,
  requestFromWorker,
} from "./document_worker.ts";
import { PDF_SUBJECT, type PdfProcessReply, REPLY_PREFIX } from "./pdf_process.ts";
import type { PdfReply, PdfRequest } from "./pdf_worker.ts";
import { startPdfProcess } from "./start_pdf_process.ts";

/** Options for {@linkcode extractPdfText}. */
export interface PdfTextOptions {
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Default: {@linkcode DOCUMENT_LIMITS}. */
  readonly limits?: DocumentLimits;
}

/** Maximum size of the texts of the pages, as JSON in UTF-8. */
const MAX_REPLY_BYTES = 100_000_000;

/** Time after which a process that does not end by itself is killed: its own limit begins later. */
const GRACE_MS = 5_000;

/**
 * Extracts the text of a document, with a line before each page.
 *
 * A process of its own reads the document, because a worker cannot be ended in code that does not return to its event
 * loop. Where no process can be started, a worker reads it.
 *
 * @throws {BadRequestError} When the document is damaged, encrypted or without text, or exceeds a limit.
 */
export async function extractPdfText(bytes: Uint8Array, options: PdfTextOptions): Promise<string> {
  const pages = await readPages(bytes, options);
  if (pages.every((page) => page.trim() === "")) {
    throw new BadRequestError(
      `The PDF document has ${pages.length} pages without text, such as scanned images: convert them with a command`,
    );
  }
  return pages.map((page, index) => `[Page ${index + 1}]\n${page.trim()}\n`).join("\n");
}

async function readPages(bytes: Uint8Array, options: PdfTextOptions): Promise<readonly string[]> {
  const { limits = DOCUMENT_LIMITS } = options;
  const process = startPdfProcess(bytes, limits);
  const fromProcess = process && await requestFromProcess(process, { ...options, limits });
  // This program may find a package that another process does not find, such as by a configuration.
  const reply = fromProcess && fromProcess.type !== "package_missing"
    ? fromProcess
    : await requestInThisProcess(bytes, options);
  switch (reply.type) {
    case "pages":
      return reply.pages;
    case "rejected":
      throw new BadRequestError(reply.message);
    case "failed":
    case "package_missing":
      throw new BadRequestError(`${PDF_SUBJECT} cannot be read: ${reply.reason}`);
  }
}

async function requestFromProcess(
  process: RunningProcess,
  { signal, limits }: Required<PdfTextOptions>,
): Promise<PdfProcessReply> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  const outcome = await watchProcess(process, {
    signal,
    timeoutMs: limits.timeoutMs + GRACE_MS,
    onOutput(chunk) {
      size += chunk.length;
      if (size > MAX_REPLY_BYTES) {
        throw new BadRequestError(
          `${PDF_SUBJECT} has more than 100 MB of text: convert a part of it with a command`,
        );
      }
      parts.push(decoder.decode(chunk, { stream: true }));
    },
  });
  checkOutcome(outcome, limits);
  return parseReply(parts.join("") + decoder.decode());
}

function parseReply(output: string): PdfProcessReply {
  try {
    return JSON.parse(output.slice(output.lastIndexOf(REPLY_PREFIX) + 1)); // from our own module
  } catch {
    throw new BadRequestError(`${PDF_SUBJECT} cannot be read: its reader failed`);
  }
}

function checkOutcome(outcome: ProcessOutcome, limits: DocumentLimits): void {
  switch (outcome.type) {
    case "cancelled":
      throw new AbortedError("Reading was cancelled");
    case "timed_out":
      throw createTimeoutError(PDF_SUBJECT, limits);
    case "exited": {
      const { code, signal } = outcome.exit;
      if (code === 0) return;
      // The runtime ends itself, or is ended by the system, when it has no more memory.
      throw new BadRequestError(
        `${PDF_SUBJECT} takes too much memory to read, or its reader failed (${
          signal ?? `exit code ${code}`
        })`,
      );
    }
  }
}

async function requestInThisProcess(
  bytes: Uint8Array,
  options: PdfTextOptions,
): Promise<PdfReply> {
  const request: PdfRequest = { bytes, dropsPermissions: false };
  const module = new URL("./pdf_worker.ts", import.meta.url);
  return await requestFromWorker(module, request, { subject: PDF_SUBJECT, ...options }) as PdfReply; // from our own worker
}
