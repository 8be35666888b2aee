/**
 * Parsing of unified diffs, as git and other programs write them.
 *
 * @module
 */

import type { DiffHunk, DiffLine, FileDiff } from "./file_diff.ts";

/** A file whose lines are being read. */
interface OpenFile {
  before: string | undefined;
  after: string | undefined;
  kind: FileDiff["kind"];
  readonly notes: string[];
  readonly hunks: OpenHunk[];
}

/** A hunk whose lines are being read. */
interface OpenHunk extends Omit<DiffHunk, "lines"> {
  readonly lines: DiffLine[];
  /** Lines of the hunk that are still to come, before and after the change. */
  beforeLeft: number;
  afterLeft: number;
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/;

/** Parses a diff of any number of files. Lines that belong to no file are ignored; hunks with wrong counts are read. */
export function parseDiff(text: string): FileDiff[] {
  const reader = new DiffReader();
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const [index, line] of lines.entries()) reader.read(line, lines[index + 1]);
  return reader.files.map(finishFile);
}

/** Reads a diff line by line. */
class DiffReader {
  readonly files: OpenFile[] = [];
  #file: OpenFile | undefined;
  #hunk: OpenHunk | undefined;

  read(line: string, next: string | undefined): void {
    if (this.#hunk && this.#readHunkLine(this.#hunk, line, next)) return;
    this.#hunk = undefined;
    const hunk = parseHunkStart(line);
    if (hunk) return this.#startHunk(hunk);
    if (line.startsWith("diff --git ")) return this.#startGitFile(line);
    if (line.startsWith("--- ") && next?.startsWith("+++ ")) return this.#readBefore(line);
    if (this.#file) readHeader(this.#file, line);
  }

  #startGitFile(line: string): void {
    const [before, after] = parseGitPaths(line.slice("diff --git ".length));
    this.#file = createFile();
    this.#file.before = before;
    this.#file.after = after;
    this.files.push(this.#file);
  }

  #readBefore(line: string): void {
    if (!this.#file || this.#file.hunks.length > 0) {
      this.#file = createFile();
      this.files.push(this.#file);
    }
    readHeader(this.#file, line);
  }

  #startHunk(hunk: OpenHunk): void {
    if (!this.#file) {
      this.#file = createFile();
      this.files.push(this.#file);
    }
    this.#file.hunks.push(hunk);
    this.#hunk = hunk;
  }

  /** Reads a line of a hunk. Returns `false` if the line does not belong to it. */
  #readHunkLine(hunk: OpenHunk, line: string, next: string | undefined): boolean {
    const isFull = hunk.beforeLeft <= 0 && hunk.afterLeft <= 0;
    if (line.startsWith("\\")) {
      hunk.lines.push({ type: "note", text: line.slice(1).trim() });
      return true;
    }
    if (isFull && (line === "" || (line.startsWith("--- ") && next?.startsWith("+++ ")))) {
      return false;
    }
    const type = getLineType(line);
    if (!type) return false;
    if (type !== "added") hunk.beforeLeft--;
    if (type !== "removed") hunk.afterLeft--;
    hunk.lines.push({ type, text: line.slice(1) });
    return true;
  }
}

function createFile(): OpenFile {
  return { before: undefined, after: undefined, kind: "changed", notes: [], hunks: [] };
}

/** Returns the type of a line of a hunk; an empty line is one of the context, whose space an editor has removed. */
function getLineType(line: string): DiffLine["type"] | undefined {
  if (line === "" || line.startsWith(" ")) return "context";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}

function parseHunkStart(line: string): OpenHunk | undefined {
  const match = HUNK.exec(line);
  if (!match) return undefined;
  const [, beforeStart, beforeCount = "1", afterStart, afterCount = "1", section = ""] = match;
  return {
    beforeStart: Number(beforeStart),
    afterStart: Number(afterStart),
    section: section.trim(),
    lines: [],
    beforeLeft: Number(beforeCount),
    afterLeft: Number(afterCount),
  };
}

/** Reads a line before the first hunk. */
function readHeader(file: OpenFile, line: string): void {
  const [, before] = /^--- ([^\t]*)/.exec(line) ?? [];
  const [, after] = /^\+\+\+ ([^\t]*)/.exec(line) ?? [];
  const [, action, path] = /^(rename|copy) from (.*)$/.exec(line) ?? [];
  const [, oldMode] = /^old mode (\d+)$/.exec(line) ?? [];
  const [, newMode] = /^new mode (\d+)$/.exec(line) ?? [];
  if (before !== undefined) file.before = readPath(before);
  else if (after !== undefined) file.after = readPath(after);
  else if (line.startsWith("new file mode")) file.kind = "created";
  else if (line.startsWith("deleted file mode")) file.kind = "deleted";
  else if (action !== undefined) {
    file.kind = action === "rename" ? "renamed" : "copied";
    file.before = unquote(path ?? "");
  } else if (/^(?:rename|copy) to /.test(line)) file.after = unquote(line.replace(/^\w+ to /, ""));
  else if (oldMode !== undefined) file.notes.push(`mode ${oldMode}`);
  else if (newMode !== undefined) file.notes.push(`${file.notes.pop() ?? "mode"} to ${newMode}`);
  else if (/^(?:Binary files |GIT binary patch)/.test(line)) file.notes.push("binary file");
}

/** Reads the path behind `---` or `+++`; `undefined` for the missing side of a created or deleted file. */
function readPath(source: string): string | undefined {
  const path = unquote(source.trim());
  return path === "/dev/null" ? undefined : path.replace(/^[ab]\//, "");
}

/** Splits `a/path b/path`, where the paths are equal unless they are quoted or the file is renamed. */
function parseGitPaths(source: string): [string | undefined, string | undefined] {
  const half = (source.length - 1) / 2;
  const [left, right] = [source.slice(0, half), source.slice(half + 1)];
  if (source[half] === " " && readPath(left) === readPath(right)) {
    return [readPath(left), readPath(right)];
  }
  const [, before, after] = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(source) ?? [];
  return [readPath(before ?? source), readPath(after ?? source)];
}

/** Decodes a path that git has quoted, whose bytes beyond ASCII are octal numbers. */
function unquote(source: string): string {
  if (!/^".*"$/.test(source)) return source;
  const bytes: number[] = [];
  const escapes: Readonly<Record<string, number>> = {
    n: 10,
    t: 9,
    r: 13,
    a: 7,
    b: 8,
    f: 12,
    v: 11,
  };
  for (const [part] of source.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gs)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8) & 255);
    else if (part.startsWith("\\")) bytes.push(escapes[part.slice(1)] ?? part.charCodeAt(1));
    else bytes.push(...new TextEncoder().encode(part));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function finishFile({ before, after, kind, notes, hunks }: OpenFile): FileDiff {
  const path = after ?? before ?? "";
  return {
    path,
    ...(before !== undefined && before !== path && { previousPath: before }),
    kind: kind === "changed" ? getKind(before, after) : kind,
    notes,
    hunks: hunks.map(({ beforeStart, afterStart, section, lines }) => ({
      beforeStart,
      afterStart,
      section,
      lines,
    })),
  };
}

function getKind(before: string | undefined, after: string | undefined): FileDiff["kind"] {
  if (before === undefined && after !== undefined) return "created";
  return after === undefined && before !== undefined ? "deleted" : "changed";
}
