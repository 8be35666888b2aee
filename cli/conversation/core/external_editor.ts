/**
 * The user's editor: another program that edits a text.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import { CliError } from "../../host/cli_error.ts";
import { createEditorCommand, selectEditor } from "../../host/editor_command.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Host } from "../../host/host.ts";
import type { TextEditor } from "../command/command_context.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** Maximum size of an edited text; more would exceed the context window of every model. */
const MAX_BYTES = 10_000_000;

/** Options for {@linkcode ExternalEditor}. */
export interface ExternalEditorOptions {
  /** The terminal, which the editor gets. */
  readonly view: Pick<ConversationView, "lend">;
  /** Ends the editor, when the program is to end. */
  readonly signal: AbortSignal;
  /** Reads `EDITOR` and `VISUAL`. */
  readonly env: Host["env"];
  /** Directory in which the editor runs. */
  readonly cwd: string;
}

/** Time that an editor has to end, before it is killed. */
const END_MS = 1_000;

/**
 * Edits texts with the program of `EDITOR`, else of `VISUAL`, else `vi`. Disposing of it waits until editors that
 * `signal` has ended are closed, and their files removed.
 */
export class ExternalEditor implements TextEditor, AsyncDisposable {
  readonly #options: ExternalEditorOptions;
  readonly #open = new Set<Promise<unknown>>();

  constructor(options: ExternalEditorOptions) {
    this.#options = options;
  }

  /** Edits the text in a temporary file, which is removed, except with changes that could not be read. */
  async editText(text: string, extension: string): Promise<string> {
    const editing = this.#editText(text, extension);
    this.#open.add(editing);
    try {
      return await editing;
    } finally {
      this.#open.delete(editing);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#options.signal.aborted) await Promise.allSettled(this.#open);
  }

  async #editText(text: string, extension: string): Promise<string> {
    const directory = await Deno.makeTempDir({ prefix: "swink_" });
    const file = join(directory, `text${extension}`);
    let isKept = false;
    try {
      await Deno.writeTextFile(file, text, { mode: 0o600 });
      await this.#editFile(file);
      return (await readText(file)).trimEnd();
    } catch (error) {
      isKept = await hasChanges(directory, { file, text }).catch(() => false);
      throw isKept ? addPlace(error, directory) : error;
    } finally {
      if (!isKept) await Deno.remove(directory, { recursive: true }).catch(() => {});
    }
  }

  async #editFile(file: string): Promise<void> {
    const { view, env, cwd, signal } = this.#options;
    const editor = selectEditor(env);
    const { success, code } = await view.lend(async ({ restoreScreen }) => {
      const status = await runEditor(editor, { file, cwd, signal });
      // The message of an editor that could not do its work stays on the screen.
      if (status.success || isKilled(status)) await restoreScreen();
      return status;
    });
    if (success) return;
    throw createEditorError(
      `The editor ${JSON.stringify(editor)} ended with exit code ${code}`,
      "Nothing was sent. EDITOR selects another editor.",
    );
  }
}

/** Whether a directory has more than the text that was written: another one, or files such as those from which vi recovers it. */
async function hasChanges(
  directory: string,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<boolean> {
  for await (const { name, isFile } of Deno.readDir(directory)) {
    if (!isFile) continue;
    if (join(directory, name) !== file) return true;
    const written = new TextEncoder().encode(text);
    const { size } = await Deno.stat(file);
    if (size !== written.length) return true;
    const bytes = await Deno.readFile(file);
    if (bytes.some((byte, index) => byte !== written[index])) return true;
  }
  return false;
}

/** Adds to an error where the text of the user is. */
function addPlace(error: unknown, directory: string): unknown {
  if (!(error instanceof CliError)) return error;
  return createEditorError(
    error.message,
    `${error.advice} What you have written is in ${directory}.`.trim(),
  );
}

/** Whether a signal has ended a program, or the program that a shell has started. */
function isKilled({ signal, code }: Deno.CommandStatus): boolean {
  return signal !== null || code > 128;
}

interface EditorRun {
  readonly file: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

async function runEditor(editor: string, run: EditorRun): Promise<Deno.CommandStatus> {
  const [program, args] = createEditorCommand(editor, run.file);
  const command = new Deno.Command(program, {
    args: [...args],
    cwd: run.cwd,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  try {
    return await waitForEditor(command.spawn(), run.signal);
  } catch (error) {
    const advice = "Set EDITOR to an editor that is installed.";
    throw createEditorError(`The editor cannot be started: ${getFileProblem(error)}`, advice);
  }
}

/** Waits for the end of an editor. Ends it when the signal is aborted. */
async function waitForEditor(
  child: Deno.ChildProcess,
  signal: AbortSignal,
): Promise<Deno.CommandStatus> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    kill(child, "SIGTERM");
    timer = setTimeout(() => kill(child, "SIGKILL"), END_MS);
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await child.status;
  } finally {
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
  }
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended.
  }
}

async function readText(file: string): Promise<string> {
  try {
    const { isFile, size } = await Deno.stat(file);
    // Opening a pipe would wait for its writer.
    if (!isFile) throw new Error("it is no file any more");
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1_000_000} MB`);
    const bytes = await Deno.readFile(file);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    // An editor that was closed without saving may have removed the file.
    if (error instanceof Deno.errors.NotFound) return "";
    const reason = error instanceof TypeError ? "it is not UTF-8" : getFileProblem(error);
    throw createEditorError(`The text of the editor was not read: ${reason}`, "");
  }
}

function createEditorError(message: string, advice: string): CliError {
  return new CliError(message, { exitCode: ExitCode.failed, advice });
}
