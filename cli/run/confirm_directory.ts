/**
 * The question before a run in the home directory.
 *
 * @module
 */

import { UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";

/** Options for `confirmDirectory()`. */
export interface ConfirmOptions {
  /** Terminal and environment. */
  readonly host: Host;
  /** Ends the question. */
  readonly signal: AbortSignal;
}

/**
 * Asks the user before a run in the home directory or above it, where an agent rarely belongs: all of it can be changed.
 * Without a user at a terminal nothing is asked, because calls that require approval are refused then.
 *
 * @throws {UsageError} If the user says no.
 */
export async function confirmDirectory(
  cwd: string,
  { host, signal }: ConfirmOptions,
): Promise<void> {
  const { terminal, env } = host;
  const home = env("HOME") ?? env("USERPROFILE") ?? "";
  const { keyboard, messages } = terminal;
  if (!containsDirectory(cwd, home) || !keyboard || !messages.isTerminal) return;
  const isConfirmed = await askAboutDirectory(cwd, keyboard, { host, signal });
  // An interrupted run ends before its first request.
  if (isConfirmed || signal.aborted) return;
  throw new UsageError(
    "Not started in the home directory",
    "Select a directory: swink run --cwd DIRECTORY PROMPT",
  );
}

/** Whether a directory is the home directory or contains it. */
function containsDirectory(directory: string, home: string): boolean {
  if (home === "") return false;
  const path = resolveLinks(home);
  return path === directory ||
    path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

function resolveLinks(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

async function askAboutDirectory(
  cwd: string,
  keyboard: Input,
  { host, signal }: ConfirmOptions,
): Promise<boolean> {
  const [{ askChoice }, { TypedInput }, { toVisibleText }] = await Promise.all([
    import("../questions/ask_choice.ts"),
    import("../questions/typed_input.ts"),
    import("../render/visible_text.ts"),
  ]);
  using input = new TypedInput(keyboard);
  const rows = [
    `? Work in ${toVisibleText(cwd)}`,
    "  It is the home directory, or contains it.",
  ];
  const answer = await askChoice({
    details: rows.map((text) => ({ text, paint: (row) => row })),
    message: "Allow? [y]es / [n]o",
    answers: ["yes", "no"],
  }, { host, keyboard, input, signal });
  return answer === "yes";
}
