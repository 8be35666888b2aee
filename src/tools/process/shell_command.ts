/**
 * Launch of a shell command, which writes stdout and stderr to one stream, has no input, and leaves its final working
 * directory in a file.
 *
 * @module
 */

import { system } from "../../platform/system.ts";
import type { Launch } from "./running_process.ts";

const SHELLS: readonly string[] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

let shellPath: string | undefined;

/** Options for {@linkcode createShellLaunch}. */
export interface ShellOptions {
  /** Working directory. */
  readonly cwd: string;
  /** Complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** File to which the shell writes its final working directory. Default: none. */
  readonly directoryFile?: string | undefined;
}

/**
 * Creates the launch of a shell command.
 *
 * The command is passed as an argument and evaluated, so that its line numbers start at 1 and a syntax error in it
 * does not affect the wrapper script.
 */
export function createShellLaunch(command: string, options: ShellOptions): Launch {
  const { cwd, env, directoryFile } = options;
  shellPath ??= SHELLS.find(exists) ?? "bash";
  const trap = directoryFile === undefined
    ? ""
    : `trap 'pwd -P >${quoteForShell(directoryFile)}' EXIT; `;
  const wrapper = `exec 2>&1; ${trap}eval "shift; $1"`;
  return { program: shellPath, args: ["-c", wrapper, "bash", command], cwd, env };
}

/** Quotes a string as one word of a shell command, also within single quotes. */
function quoteForShell(text: string): string {
  return `"${text.replace(/[\\"$`]/g, "\\$&").replaceAll("'", "'\\''")}"`;
}

function exists(path: string): boolean {
  try {
    system.statSync(path);
    return true;
  } catch {
    return false;
  }
}
