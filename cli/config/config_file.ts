/**
 * Changes of the user's configuration file.
 *
 * @module
 */

import { realSleep } from "../../src/core/ports/ports.ts";
import { lockFile } from "../../src/platform/file_lock.ts";
import { dirname } from "../../src/platform/paths.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { createEditorCommand, NOT_INSTALLED, selectEditor } from "../host/editor_command.ts";
import { getFileProblem } from "../host/file_problem.ts";
import type { Host } from "../host/host.ts";

/** Maximum time to wait for another program that changes a file, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/** Time between two attempts to lock a file, in milliseconds. */
const WAIT_MS = 10;

/**
 * Replaces the content of a file. A program that reads it at the same time gets the old or the new content, and one that
 * changes it at the same time waits; where the path is a link, its target is replaced.
 *
 * @param change Returns the new content; what it throws is passed on, and the file stays unchanged.
 * @param options.signal Ends the wait for another program; the file stays unchanged then.
 * @throws {ConfigurationError} If the file cannot be read or written, or another program changes it for ten seconds.
 */
export async function changeConfigFile(
  file: string,
  change: (content: string) => string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  // Without a lock, each of several programs would lose the changes of the others.
  using _lock = await attempt(file, "written", () => lockConfigFile(file, signal));
  const content = await attempt(file, "read", () => readIfExists(file));
  const changed = change(content ?? "");
  if (changed === content) return;
  await attempt(file, "written", () => replaceFile(file, changed));
}

async function lockConfigFile(path: string, signal?: AbortSignal): Promise<Disposable> {
  const file = await resolveFile(path);
  for (let waited = 0; waited < MAX_WAIT_MS; waited += WAIT_MS) {
    const lock = lockFile(`${file}.lock`);
    if (lock) return lock;
    await realSleep(WAIT_MS, signal);
    signal?.throwIfAborted();
  }
  throw new Error("another program changes it; try again");
}

/** Creates the directory of a file, and returns the target of the file if it is a link. */
async function resolveFile(path: string): Promise<string> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return await Deno.realPath(path).catch(() => path);
}

async function replaceFile(path: string, content: string): Promise<void> {
  const file = await resolveFile(path);
  const info = await Deno.lstat(file).catch(() => undefined);
  if (info?.isSymlink) throw new Error("it is a link to a file that does not exist");
  // Such as /dev/null, which the superuser would replace.
  if (info && !info.isFile) throw new Error("it is no regular file");
  const mode = info?.mode ?? 0o600;
  const temporary = await Deno.makeTempFile({ dir: dirname(file), prefix: ".config-" });
  try {
    await Deno.writeTextFile(temporary, content);
    await Deno.chmod(temporary, mode & 0o777);
    await Deno.rename(temporary, file);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    const bytes = await Deno.readFile(file);
    // A mark at the start of the file remains.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    // Other characters would be lost when the file is written.
    if (error instanceof TypeError) throw new Error("it is not text in UTF-8");
    throw error;
  }
}

/**
 * Opens a file in the user's editor and waits until the editor ends. A missing file is created.
 *
 * @throws {ConfigurationError} If the file cannot be created, or the editor cannot be started or fails.
 */
export async function openConfigFile(file: string, env: Host["env"]): Promise<void> {
  if (await attempt(file, "read", () => readIfExists(file)) === undefined) {
    await attempt(file, "written", () => replaceFile(file, HEADER));
  }
  const editor = selectEditor(env);
  const [program, args] = createEditorCommand(editor, file);
  const { success, code } = await new Deno.Command(program, { args: [...args] }).spawn().status;
  if (success) return;
  const problem = code === NOT_INSTALLED ? "is not installed" : "failed";
  throw new ConfigurationError(
    `The editor ${JSON.stringify(editor)} ${problem}`,
    "Set EDITOR to the command of an editor.",
  );
}

const HEADER = "# Configuration of swink. All keys: swink config schema\n";

/** Calls `action`; a failure of the file system becomes an error that names the file. */
async function attempt<Value>(
  file: string,
  verb: "read" | "written",
  action: () => Promise<Value>,
): Promise<Value> {
  try {
    return await action();
  } catch (error) {
    throw new ConfigurationError(`${file} cannot be ${verb}: ${getFileProblem(error)}`);
  }
}
