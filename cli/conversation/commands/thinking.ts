/**
 * `/thinking`: sets how much the model thinks, and whether its thinking is shown.
 *
 * @module
 */

import type { ThinkingLevel } from "../../../mod.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "extra_high"];

/** `/thinking`. */
export const thinking = defineCommand({
  names: ["/thinking"],
  argument: "[LEVEL|show|hide]",
  summary: `Sets the amount of thinking (${LEVELS.join(", ")}), or shows and hides it`,
  worksDuringRuns: true,
  complete: () => [...LEVELS, "show", "hide"].map((text) => ({ text })),
  async run(argument, { view, setup: { agent }, output }) {
    const word = argument.toLowerCase().replace("-", "_");
    if (word === "show" || word === "hide") output.hidesThinking = word === "hide";
    else if (word !== "") agent.setThinkingLevel(parseLevel(word));
    const { thinkingLevel } = agent.state.model;
    const visibility = output.hidesThinking ? "hidden" : "shown";
    await view.print([toLine(`thinking ${thinkingLevel}, ${visibility}`, "faint")]);
  },
});

function parseLevel(word: string): ThinkingLevel {
  if (word === "xhigh" || word === "max") return "extra_high";
  const level = LEVELS.find((candidate) => candidate === word);
  if (level !== undefined) return level;
  throw new UsageError(
    `There is no thinking level ${JSON.stringify(word)}${didYouMean(word, LEVELS)}`,
    `Levels: ${LEVELS.join(", ")}.`,
  );
}
