/**
 * Roles of text on a terminal, and whether they are coloured.
 *
 * @module
 */

import type { Output } from "../terminal.ts";

/** Marks a text for what it is. */
export type Paint = (text: string) => string;

/** The roles that text can have. */
export interface Style {
  /** What stands out. */
  readonly strong: Paint;
  /** What can be passed over. */
  readonly faint: Paint;
  /** What went well, and what was added. */
  readonly good: Paint;
  /** What went wrong, and what was taken away. */
  readonly error: Paint;
  /** What should be looked at. */
  readonly warning: Paint;
  /** Names: of tools, commands, options. */
  readonly name: Paint;
}

/** The style of an output: colours on a terminal, unless the environment says otherwise. */
export function styleFor(
  output: Pick<Output, "isTerminal">,
  env: (name: string) => string | undefined,
): Style {
  return wantsColor(output, env) ? COLORED : PLAIN;
}

/**
 * Whether colours are wanted: `FORCE_COLOR` beats `NO_COLOR` (no-color.org), which beats what the terminal can do.
 */
function wantsColor(
  output: Pick<Output, "isTerminal">,
  env: (name: string) => string | undefined,
): boolean {
  const forced = env("FORCE_COLOR");
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env("NO_COLOR")) return false;
  return output.isTerminal && env("TERM") !== "dumb";
}

function color(code: number, end: number): Paint {
  return (text) => text === "" ? "" : `\u001b[${code}m${text}\u001b[${end}m`;
}

const COLORED: Style = {
  strong: color(1, 22),
  faint: color(2, 22),
  good: color(32, 39),
  error: color(31, 39),
  warning: color(33, 39),
  name: color(36, 39),
};

const asIs: Paint = (text) => text;

const PLAIN: Style = {
  strong: asIs,
  faint: asIs,
  good: asIs,
  error: asIs,
  warning: asIs,
  name: asIs,
};
