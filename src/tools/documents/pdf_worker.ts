/**
 * Worker that extracts the text of PDF documents, so that a document that takes too long can be given up.
 *
 * @module
 */

import type { extractText, getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { getErrorMessage } from "../../core/errors.ts";
import { getParentThread, READY_MESSAGE } from "../../platform/worker.ts";
import { loadNpmPackage } from "./npm_package.ts";

/** The used part of `unpdf`. */
interface PdfPackage {
  readonly getDocumentProxy: typeof getDocumentProxy;
  readonly getResolvedPDFJS: typeof getResolvedPDFJS;
  readonly extractText: typeof extractText;
}

/** Message to the worker: the content of a document. */
export interface PdfRequest {
  /** Content of the file. */
  readonly bytes: Uint8Array;
}

/** Reply of the worker: the texts of the pages, or the reason why the document or the package cannot be read. */
export type PdfReply =
  | { readonly type: "pages"; readonly pages: readonly string[] }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "package_missing"; readonly reason: string };

/** Prints no warnings about damaged documents. */
const ERRORS_ONLY = 0;

const parent = getParentThread();

async function loadPackage(): Promise<PdfPackage> {
  try {
    const loaded = await loadNpmPackage("unpdf") as PdfPackage;
    await loaded.getResolvedPDFJS(); // which it would load for the first document
    return loaded;
  } finally {
    parent.postMessage(READY_MESSAGE);
  }
}

async function reply(loading: Promise<PdfPackage>, { bytes }: PdfRequest): Promise<PdfReply> {
  let loaded: PdfPackage;
  try {
    loaded = await loading;
  } catch (error) {
    return { type: "package_missing", reason: getErrorMessage(error) };
  }
  try {
    const document = await loaded.getDocumentProxy(bytes, { verbosity: ERRORS_ONLY });
    const { text } = await loaded.extractText(document, { mergePages: false });
    return { type: "pages", pages: text };
  } catch (error) {
    return { type: "failed", reason: getErrorMessage(error) };
  }
}

const loading = loadPackage();
loading.catch(() => {}); // reported as a reply
parent.onMessage((message) => {
  void reply(loading, message as PdfRequest).then((reply) => parent.postMessage(reply));
});
