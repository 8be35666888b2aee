/**
 * Restores the entries of lines that refer to other lines.
 *
 * @module
 */

import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { type DecodedLine, restoreContent } from "./jsonl.ts";

/** Reads the lines of the entries with these ids, in the same order. */
export type FetchLines = (ids: readonly string[]) => Promise<readonly DecodedLine[]>;

/**
 * Maximum number of entries that lead to content. An entry refers to one that its process has read, which may refer to
 * another one; only another program writes chains that are longer than this, and would exhaust the stack.
 */
const MAX_DEPTH = 256;

/** Returns the entries of lines; lines with their content that are not among them are fetched. */
export async function restoreLines(
  lines: readonly DecodedLine[],
  fetch: FetchLines,
): Promise<readonly (SessionEntry | undefined)[]> {
  const restorer = new LineRestorer(lines);
  let missing = restorer.listMissing(lines);
  for (let depth = 0; depth < MAX_DEPTH && missing.length > 0; depth++) {
    const fetched = await fetch(missing);
    restorer.add(missing, fetched);
    missing = restorer.listMissing(fetched);
  }
  return lines.map((line) => restorer.restore(line));
}

class LineRestorer {
  readonly #lines = new Map<string, DecodedLine>();
  readonly #restored = new Map<string, SessionEntry | undefined>();
  /** Number of references that are being followed. */
  #depth = 0;

  constructor(lines: readonly DecodedLine[]) {
    if (lines.every((line) => line?.type !== "referring")) return;
    for (const line of lines) {
      if (line) this.#lines.set(line.type === "referring" ? line.entry.id : line.id, line);
    }
  }

  add(ids: readonly string[], lines: readonly DecodedLine[]): void {
    ids.forEach((id, index) => this.#lines.set(id, lines[index]));
  }

  /** Returns the ids of the entries that lines refer to and that were not added. */
  listMissing(lines: readonly DecodedLine[]): readonly string[] {
    const ids = lines.flatMap((line) => line?.type === "referring" ? line.sources : []);
    return [...new Set(ids)].filter((id) => !this.#lines.has(id));
  }

  restore(line: DecodedLine): SessionEntry | undefined {
    return line?.type === "referring" ? restoreContent(line, (id) => this.#find(id)) : line;
  }

  /** Returns an entry by its id; `undefined` also for one that refers to itself in a damaged log. */
  #find(id: string): SessionEntry | undefined {
    if (this.#restored.has(id)) return this.#restored.get(id);
    if (this.#depth === MAX_DEPTH) return undefined;
    this.#restored.set(id, undefined);
    this.#depth++;
    const entry = this.restore(this.#lines.get(id));
    this.#depth--;
    this.#restored.set(id, entry);
    return entry;
  }
}
