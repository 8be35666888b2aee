/**
 * The text of a notebook.
 *
 * @module
 */

import { decodeForEditing } from "../files/text_content.ts";
import { formatCells, formatOutputs, parseNotebook } from "./notebook.ts";

/** The text of a notebook. */
export interface NotebookText {
  /** The cells. */
  readonly cells: string;
  /** The outputs of the cells; empty if there are none. */
  readonly outputs: string;
}

/** Formats the notebook in a file. @throws {BadRequestError} When the file is not one. */
export function formatNotebook(bytes: Uint8Array, path: string): NotebookText {
  const notebook = parseNotebook(decodeForEditing(bytes, path).text, path);
  return { cells: formatCells(notebook), outputs: formatOutputs(notebook) };
}
