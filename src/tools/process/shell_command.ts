/**
 * A shell command as a process: errors and output in one stream in the order they were written, no input, and the
 * folder in which it ended told afterwards.
 *
 * @module
 */

import type { Launch } from "./running_process.ts";

const SHELLS: readonly string[] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

let shellPath: string | undefined;

/** What {@linkcode createShellLaunch} needs besides the command. */
export interface ShellOptions {
  /** Where it starts. */
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The file into which the shell writes the folder where it ended. */
  readonly directoryFile: string;
}

/**
 * Builds the launch of a shell command.
 *
 * The command is evaluated from an argument, so that its line numbers are its own and a syntax error in it does
 * not keep the frame around it from working.
 */
export function createShellLaunch(command: string, options: ShellOptions): Launch {
  const { cwd, env, directoryFile: folderFile } = options;
  shellPath ??= SHELLS.find(exists) ?? "bash";
  const frame = `exec 2>&1; trap 'pwd -P >${quoteForShell(folderFile)}' EXIT; eval "shift; $1"`;
  return { program: shellPath, args: ["-c", frame, "bash", command], cwd, env };
}

/** A text as one word of a shell command, also inside of a quoted word. */
export function quoteForShell(text: string): string {
  return `"${text.replace(/[\\"$`]/g, "\\$&").replaceAll("'", "'\\''")}"`;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
