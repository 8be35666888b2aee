/**
 * Loads the npm package that reads PDF documents, on first use.
 *
 * The specifier is not a literal, because Deno and bundlers would download the package (2 MB) with every program.
 *
 * @module
 */

import type { extractText, getDocumentProxy } from "unpdf";
import { BadRequestError, getErrorMessage } from "../../core/errors.ts";

/** The used part of `unpdf`. */
export interface PdfPackage {
  /** Opens a document. */
  readonly getDocumentProxy: typeof getDocumentProxy;
  /** Extracts the text of its pages. */
  readonly extractText: typeof extractText;
}

/** Name and version range of the package, equal to those in deno.json. */
export const PDF_PACKAGE = { name: "unpdf", range: "^1.8.1" } as const;

/** Loads the package. @throws {BadRequestError} When it is not installed and cannot be downloaded. */
export async function loadPdfPackage(): Promise<PdfPackage> {
  const { name, range } = PDF_PACKAGE;
  const specifier = `npm:${name}@${range}`;
  try {
    return await import(specifier);
  } catch (cause) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    return await importInstalled(name, cause);
  }
}

async function importInstalled(name: string, cause: unknown): Promise<PdfPackage> {
  try {
    return await import(name);
  } catch {
    throw new BadRequestError(
      `Could not load the npm package ${name}, which reads PDF documents; install it: ${
        getErrorMessage(cause)
      }`,
      { cause },
    );
  }
}
