/**
 * Questions for the data of a server at the terminal of a run.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { askLine } from "../questions/ask_line.ts";
import { getTypedInput } from "../questions/typed_input.ts";
import { getStyle } from "../render/style.ts";
import type { ElicitationQuestions } from "./ask_elicitation.ts";

/** Creates questions that wait for each other, and for those about tool calls. */
export function createTerminalQuestions(
  host: Pick<Host, "terminal" | "env" | "now">,
  keyboard: Input,
): ElicitationQuestions {
  const input = getTypedInput(keyboard);
  return {
    style: getStyle(host.terminal.messages, host.env),
    askChoice: (choice, signal) =>
      input.runExclusively(() => askChoice(choice, { host, keyboard, input, signal })),
    askText: (question, signal) =>
      input.runExclusively(() => askLine(question, { host, input, signal })),
  };
}
