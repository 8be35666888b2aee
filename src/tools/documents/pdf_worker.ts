/**
 * Worker that extracts the text of PDF documents, so that a document that takes too long can be given up.
 *
 * @module
 */

import type { extractText, getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { getErrorMessage } from "../../core/errors.ts";
import { isDeno } from "../../platform/system.ts";
import { getParentThread } from "../../platform/worker.ts";
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
  /** Whether this process exists for this document only and therefore gives up all permissions of Deno before it reads it. */
  readonly dropsPermissions: boolean;
}

/** Reply of the worker: the texts of the pages, or the reason why the document or the package cannot be read. */
export type PdfReply =
  | { readonly type: "pages"; readonly pages: readonly string[] }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "package_missing"; readonly reason: string };

/** Prints no warnings about damaged documents. */
const ERRORS_ONLY = 0;

const parent = getParentThread();

async function reply(request: PdfRequest): Promise<PdfReply> {
  let loaded: PdfPackage;
  try {
    loaded = await loadNpmPackage("unpdf") as PdfPackage;
    await loaded.getResolvedPDFJS(); // which is loaded for the first document
  } catch (error) {
    return { type: "package_missing", reason: getErrorMessage(error) };
  }
  if (request.dropsPermissions && isDeno) dropPermissions();
  return await readPages(loaded, request.bytes);
}

async function readPages(loaded: PdfPackage, bytes: Uint8Array): Promise<PdfReply> {
  try {
    const document = await loaded.getDocumentProxy(bytes, { verbosity: ERRORS_ONLY });
    const { text } = await loaded.extractText(document, { mergePages: false });
    return { type: "pages", pages: text };
  } catch (error) {
    return { type: "failed", reason: getErrorMessage(error) };
  }
}

/** Gives up all permissions, which the threads of a process share. A compiled program starts with all of them. */
function dropPermissions(): void {
  for (const name of ["run", "read", "write", "net", "env", "sys", "ffi", "import"] as const) {
    // deno-lint-ignore swink/portable -- only Deno has permissions
    Deno.permissions.revokeSync({ name });
  }
}

parent.onMessage((message) => {
  void reply(message as PdfRequest).then((reply) => parent.postMessage(reply));
});
