/**
 * The directories whose instructions, configuration and programs the user allows to be loaded.
 *
 * The file has one line of JSON for each answer: a path, or an object with the path and the digests of the files that start
 * programs. It is only appended to: programs that add a path at the same time lose none.
 *
 * @module
 */

import { dirname, join } from "../../src/platform/paths.ts";
import { readUntrustedText } from "../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../src/platform/untrusted_read.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import { PROGRAM_FILES, type ProjectPrograms } from "./project_content.ts";

const MAX_FILE_BYTES = 1_000_000;

/** Whether the user trusts a project; `changed` if the files that start programs are others than those of the answers. */
export type Trust = "trusted" | "changed" | "untrusted";

/** An answer of the user. */
interface TrustedDirectory {
  readonly path: string;
  /** Digests of the files that start programs, one per line. Default: there were none. */
  readonly programs?: string;
}

function getFile({ state }: ProgramDirectories): string {
  return join(state, "trusted_directories");
}

/**
 * Returns whether the user trusts a project, or a directory above it. Files that start programs are trusted only in the
 * project itself, each with a content that it had at an answer.
 */
export async function getTrust(
  programs: ProjectPrograms,
  directories: ProgramDirectories,
): Promise<Trust> {
  const file = getFile(directories);
  const text = await readUntrustedText(file, { within: dirname(file), maxBytes: MAX_FILE_BYTES });
  const answers = (text ?? "").split("\n").flatMap(parseLine);
  const { root } = programs;
  if (!isCovered(root, new Set(answers.map(({ path }) => path)))) return "untrusted";
  const own = answers.filter(({ path }) => path === root);
  const known = new Set(own.flatMap((answer) => answer.programs?.split("\n") ?? []));
  const digests = await digestPrograms(programs);
  return digests.every((digest) => known.has(digest)) ? "trusted" : "changed";
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

/** Returns a line with the digest of each file, in SHA-256; none for a missing file. */
async function digestPrograms({ config, servers }: ProjectPrograms): Promise<string[]> {
  const lines = await Promise.all([
    digestFile(PROGRAM_FILES.config, config),
    digestFile(PROGRAM_FILES.servers, servers),
  ]);
  return lines.filter((line) => line !== undefined);
}

async function digestFile(name: string, read: UntrustedRead): Promise<string | undefined> {
  if (read.type === "missing") return undefined;
  const content = read.type === "content"
    ? new Uint8Array(read.bytes)
    : new TextEncoder().encode(read.reason);
  const digest = await crypto.subtle.digest("SHA-256", content);
  return `${name} ${read.type} ${new Uint8Array(digest).toHex()}`;
}

/** Adds a project with the files that start programs; directories below it without such files are trusted, too. */
export async function trustProject(
  programs: ProjectPrograms,
  directories: ProgramDirectories,
): Promise<void> {
  const file = getFile(directories);
  const { root: path } = programs;
  const digests = await digestPrograms(programs);
  const answer = digests.length === 0 ? path : { path, programs: digests.join("\n") };
  await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // The answer before it may have been cut off.
  const text = `\n${JSON.stringify(answer)}\n`;
  await Deno.writeTextFile(file, text, { append: true, mode: 0o600 });
}
