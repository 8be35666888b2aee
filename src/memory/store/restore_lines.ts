/**
 * Restores the entries of lines that refer to other lines.
 *
 * @module
 */

import type { SessionEntry } from "../../core/session_entry.ts";
import { type DecodedLine, restoreContent } from "./jsonl.ts";

/** Reads the lines of the entries with these ids, in the same order. */
export type FetchLines = (ids: readonly string[]) => Promise<readonly DecodedLine[]>;

/** Returns the entries of lines; lines with their content that are not among them are fetched. */
export async function restoreLines(
  lines: readonly DecodedLine[],
  fetch: FetchLines,
): Promise<readonly (SessionEntry | undefined)[]> {
  const restorer = new LineRestorer(lines);
  for (let missing = restorer.listMissing(lines); missing.length > 0;) {
    const fetched = await fetch(missing);
    restorer.add(missing, fetched);
    missing = restorer.listMissing(fetched);
  }
  return lines.map((line) => restorer.restore(line));
}

class LineRestorer {
  readonly #lines = new Map<string, DecodedLine>();
  readonly #restored = new Map<string, SessionEntry | undefined>();

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
    this.#restored.set(id, undefined);
    const entry = this.restore(this.#lines.get(id));
    this.#restored.set(id, entry);
    return entry;
  }
}
