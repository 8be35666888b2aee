/**
 * The question whether a run may work in the home directory or above it, where it could change settings that run
 * programs.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { findKeyboard } from "../host/terminal.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { toLines, toSentenceLines } from "../questions/choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toVisibleText } from "../render/visible_text.ts";
import type { RunSettings } from "./settings/settings.ts";

const ANSWERS = ["yes", "no"] as const;

const ADVICE =
  "Change to the directory of a project, or select it with --cwd. --allow-home allows this one.";

/** Options for `confirmHomeAccess()`. */
export interface HomeAccessOptions extends Pick<RunSettings, "cwd"> {
  /** Closes the question. */
  readonly signal: AbortSignal;
}

/**
 * Asks whether a run may work in a directory that contains the home directory.
 *
 * @throws {ConfigurationError} If the user does not allow it, or cannot be asked.
 */
export async function confirmHomeAccess(
  { cwd, signal }: HomeAccessOptions,
  host: Pick<Host, "terminal" | "env" | "now">,
): Promise<void> {
  const keyboard = findKeyboard(host.terminal);
  const name = JSON.stringify(cwd);
  if (keyboard) {
    using input = new TypedInput(keyboard);
    const answer = await askChoice({
      details: [
        ...toLines([`? Work in ${toVisibleText(cwd)}`]),
        ...toSentenceLines(
          "It contains your home directory with its settings and keys.",
          host.terminal.columns,
        ),
      ],
      message: "Allow? [y]es / [n]o",
      answers: ANSWERS,
    }, { host, keyboard, input, signal });
    // An interrupted run ends before its first request.
    if (answer === "yes" || signal.aborted) return;
  }
  throw new ConfigurationError(`The working directory ${name} contains the home directory`, ADVICE);
}
