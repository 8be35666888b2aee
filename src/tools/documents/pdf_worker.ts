/**
 * Worker that extracts the text of PDF documents, so that a document that takes too long can be given up.
 *
 * @module
 */

import type { extractText, getDocumentProxy } from "unpdf";
import { getErrorMessage } from "../../core/errors.ts";
import { getParentThread } from "../../platform/worker.ts";
import { loadNpmPackage } from "./npm_package.ts";

/** The used part of `unpdf`. */
interface PdfPackage {
  readonly getDocumentProxy: typeof getDocumentProxy;
  readonly extractText: typeof extractText;
}

/** Message to the worker: the content of a document. */
export interface PdfRequest {
  /** Content of the file. */
  readonly bytes: Uint8Array;
}

/** Reply of the worker: the texts of the pages, or the reason why the document cannot be read. */
export type PdfReply =
  | { readonly type: "pages"; readonly pages: readonly string[] }
  | { readonly type: "failed"; readonly reason: string };

/** Prints no warnings about damaged documents. */
const ERRORS_ONLY = 0;

const parent = getParentThread();

async function readPages({ bytes }: PdfRequest): Promise<PdfReply> {
  try {
    const loaded = await loadNpmPackage("unpdf") as PdfPackage;
    const document = await loaded.getDocumentProxy(bytes, { verbosity: ERRORS_ONLY });
    const { text } = await loaded.extractText(document, { mergePages: false });
    return { type: "pages", pages: text };
  } catch (error) {
    return { type: "failed", reason: getErrorMessage(error) };
  }
}

parent.onMessage((message) => {
  void readPages(message as PdfRequest).then((reply) => parent.postMessage(reply));
});
