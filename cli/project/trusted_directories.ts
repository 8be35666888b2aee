/**
 * The directories whose instructions, configuration and programs the user allows to be loaded.
 *
 * The file has one line of JSON for each answer: a path, or an object with the path and the digest of the files that start
 * programs. It is only appended to: programs that add a path at the same time lose none.
 *
 * @module
 */

import { dirname, join } from "../../src/platform/paths.ts";
import { readUntrustedFile, readUntrustedText } from "../../src/platform/untrusted_file.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

const MAX_FILE_BYTES = 1_000_000;

/**
 * Files of a project that start programs: hooks, outside of the sandbox, and MCP servers. An agent may have written them, so
 * that an answer holds only for their content at that time.
 */
const PROGRAM_FILES = [".swink/config.toml", ".mcp.json"] as const;

/** Whether the user trusts a directory; `changed` if the files that start programs are others than those of the answer. */
export type Trust = "trusted" | "changed" | "untrusted";

/** An answer of the user. */
interface TrustedDirectory {
  readonly path: string;
  /** Digest of the files that start programs. Default: there were none. */
  readonly programs?: string;
}

function getFile({ state }: ProgramDirectories): string {
  return join(state, "trusted_directories");
}

/**
 * Returns whether the user trusts a directory, or one above it. Files that start programs are trusted only in the directory
 * itself, with the content that they had. `path` is absolute and without links.
 */
export async function getTrust(path: string, directories: ProgramDirectories): Promise<Trust> {
  const file = getFile(directories);
  const text = await readUntrustedText(file, { within: dirname(file), maxBytes: MAX_FILE_BYTES });
  const answers = (text ?? "").split("\n").flatMap(parseLine);
  if (!isCovered(path, new Set(answers.map((answer) => answer.path)))) return "untrusted";
  const programs = await digestPrograms(path);
  if (programs === undefined) return "trusted";
  const isSame = answers.some((answer) => answer.path === path && answer.programs === programs);
  return isSame ? "trusted" : "changed";
}

/** Whether the user trusts a directory as it is. */
export async function isTrusted(path: string, directories: ProgramDirectories): Promise<boolean> {
  return await getTrust(path, directories) === "trusted";
}

function isCovered(path: string, trusted: ReadonlySet<string>): boolean {
  for (let directory = path;; directory = dirname(directory)) {
    if (trusted.has(directory)) return true;
    if (dirname(directory) === directory) return false;
  }
}

/** A line that another program has cut or changed is no answer. */
function parseLine(line: string): TrustedDirectory[] {
  try {
    const value = JSON.parse(line);
    if (typeof value === "string") return [{ path: value }];
    const { path, programs } = value;
    return typeof path === "string" && typeof programs === "string" ? [{ path, programs }] : [];
  } catch {
    return [];
  }
}

/** Returns the SHA-256 of the files that start programs; `undefined` if there are none. */
async function digestPrograms(root: string): Promise<string | undefined> {
  const contents = await Promise.all(PROGRAM_FILES.map(async (name) => {
    const read = await readUntrustedFile(join(root, name), {
      within: root,
      maxBytes: MAX_FILE_BYTES,
    });
    if (read.type === "missing") return [];
    const content = read.type === "content"
      ? new Uint8Array(read.bytes)
      : new TextEncoder().encode(read.reason);
    const digest = await crypto.subtle.digest("SHA-256", content);
    return [`${name} ${read.type} ${new Uint8Array(digest).toHex()}`];
  }));
  const lines = contents.flat();
  return lines.length === 0 ? undefined : lines.join("\n");
}

/**
 * Adds a directory with the files that start programs; those below it without such files are trusted, too. `path` is absolute
 * and without links.
 */
export async function trustDirectory(path: string, directories: ProgramDirectories): Promise<void> {
  const file = getFile(directories);
  const programs = await digestPrograms(path);
  const answer = programs === undefined ? path : { path, programs };
  await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(file, `${JSON.stringify(answer)}\n`, { append: true, mode: 0o600 });
}
