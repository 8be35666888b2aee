/**
 * The editor of the user, as a program to start.
 *
 * @module
 */

import { findTrustedProgram } from "../../src/platform/trusted_path.ts";
import type { Host } from "./host.ts";

/** The editor of a user who has configured none. */
const DEFAULT_EDITOR = Deno.build.os === "windows" ? "notepad" : "vi";

/** Returns the editor of the user: that of `EDITOR`, else of `VISUAL`, both of which may have arguments: `code --wait`. */
export function selectEditor(env: Host["env"]): string {
  return env("EDITOR") || env("VISUAL") || DEFAULT_EDITOR;
}

/** Exit code of a shell that does not find an editor. */
export const NOT_INSTALLED = 127;

/** Matches a program with arguments, which can replace the shell, so that it receives the signals. */
const PROGRAM = /^[\w./~+-]+(?:[ \t][^\n;&|<>()`]*)?$/;

/** Returns the command that opens a file in an editor. */
export function createEditorCommand(
  editor: string,
  file: string,
): readonly [program: string, args: readonly string[]] {
  if (Deno.build.os === "windows") return ["cmd", ["/d", "/s", "/c", `${editor} "${file}"`]];
  const command = PROGRAM.test(editor) ? `exec ${editor}` : editor;
  // A command could have made a shell in a directory of the project that is in PATH.
  const shell = findTrustedProgram("sh", Deno.env.get("PATH") ?? "") ?? "/bin/sh";
  return [shell, ["-c", `${command} "$1"`, "sh", file]];
}
