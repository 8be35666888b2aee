/**
 * `/theme`: shows or sets the colors.
 *
 * @module
 */

import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { ThemeName } from "../../render/theme/theme.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

const THEMES: readonly ThemeName[] = ["dark", "light", "high_contrast", "mono"];

/** `/theme`. */
export const theme = defineCommand({
  names: ["/theme"],
  argument: "[NAME|next]",
  summary: `Sets the colors of later output: ${THEMES.join(", ")}`,
  key: "F3",
  worksDuringRuns: true,
  complete: () => THEMES.map((text) => ({ text })),
  async run(argument, { view }) {
    const { name } = view.display.theme;
    if (argument !== "") view.setTheme(argument === "next" ? getNext(name) : parseTheme(argument));
    const { theme, isPlain } = view.display;
    const text = isPlain ? "Plain output has no colors" : `theme ${theme.name}`;
    await view.print([toLine(text, "faint")]);
  },
});

function getNext(name: ThemeName): ThemeName {
  return THEMES[(THEMES.indexOf(name) + 1) % THEMES.length] ?? "dark";
}

function parseTheme(word: string): ThemeName {
  const name = word.toLowerCase().replaceAll("-", "_");
  const theme = THEMES.find((candidate) => candidate === name);
  if (theme !== undefined) return theme;
  throw new UsageError(
    `There is no theme ${JSON.stringify(word)}${didYouMean(name, THEMES)}`,
    `Themes: ${THEMES.join(", ")}.`,
  );
}
