/**
 * The user's editor: another program that edits a text.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Host } from "../../host/host.ts";
import type { TextEditor } from "../command/command_context.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** The editor of a user who has configured none. */
const DEFAULT_EDITOR = Deno.build.os === "windows" ? "notepad" : "vi";

/** Maximum size of an edited text; more would exceed the context window of every model. */
const MAX_BYTES = 10_000_000;

/** Options for {@linkcode ExternalEditor}. */
export interface ExternalEditorOptions {
  /** The terminal, which the editor gets. */
  readonly view: Pick<ConversationView, "lend">;
  /** Reads `EDITOR` and `VISUAL`. */
  readonly env: Host["env"];
  /** Directory in which the editor runs. */
  readonly cwd: string;
}

/** Edits texts with the program of `EDITOR`, else of `VISUAL`, else `vi`. */
export class ExternalEditor implements TextEditor {
  readonly #options: ExternalEditorOptions;

  constructor(options: ExternalEditorOptions) {
    this.#options = options;
  }

  /** Edits the text in a temporary file, which is removed. */
  async editText(text: string, extension: string): Promise<string> {
    const directory = await Deno.makeTempDir({ prefix: "swink_" });
    try {
      const file = join(directory, `text${extension}`);
      await Deno.writeTextFile(file, text, { mode: 0o600 });
      await this.editFile(file);
      return (await readText(file)).trimEnd();
    } finally {
      await Deno.remove(directory, { recursive: true }).catch(() => {});
    }
  }

  /** Opens a file until the user closes the editor. */
  async editFile(file: string): Promise<void> {
    const { view, env, cwd } = this.#options;
    const editor = env("EDITOR") || env("VISUAL") || DEFAULT_EDITOR;
    const { success, code } = await view.lend(() => runEditor(editor, { file, cwd }));
    if (success) return;
    throw createEditorError(
      `The editor ${JSON.stringify(editor)} ended with exit code ${code}`,
      "Nothing was sent. EDITOR selects another editor.",
    );
  }
}

async function runEditor(
  editor: string,
  { file, cwd }: { readonly file: string; readonly cwd: string },
): Promise<Deno.CommandStatus> {
  // The variable may have arguments, such as `code --wait`.
  const [program, args] = Deno.build.os === "windows"
    ? ["cmd", ["/d", "/s", "/c", `${editor} "${file}"`]] as const
    : ["sh", ["-c", `${editor} "$1"`, "sh", file]] as const;
  const command = new Deno.Command(program, {
    args: [...args],
    cwd,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  try {
    return await command.spawn().status;
  } catch (error) {
    const advice = "Set EDITOR to an editor that is installed.";
    throw createEditorError(`The editor cannot be started: ${getFileProblem(error)}`, advice);
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
