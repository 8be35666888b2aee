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
  readonly success: Paint;
  /** What went wrong, and what was taken away. */
  readonly error: Paint;
  /** What should be looked at. */
  readonly warning: Paint;
  /** Names: of tools, commands, options. */
  readonly name: Paint;
}

/** The style of an output: colours on a terminal, unless the environment says otherwise. */
export function getStyle(
  output: Pick<Output, "isTerminal">,
  env: (name: string) => string | undefined,
): Style {
  return shouldUseColor(output, env) ? COLORED : PLAIN;
}

/**
 * Whether colours are wanted: `FORCE_COLOR` beats `NO_COLOR` (no-color.org), which beats what the terminal can do.
 */
function shouldUseColor(
  output: Pick<Output, "isTerminal">,
  env: (name: string) => string | undefined,
): boolean {
  const forced = env("FORCE_COLOR");
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env("NO_COLOR")) return false;
  return output.isTerminal && env("TERM") !== "dumb";
}

function createPaint(code: number, end: number): Paint {
  return (text) => text === "" ? "" : `\u001b[${code}m${text}\u001b[${end}m`;
}

const COLORED: Style = {
  strong: createPaint(1, 22),
  faint: createPaint(2, 22),
  success: createPaint(32, 39),
  error: createPaint(31, 39),
  warning: createPaint(33, 39),
  name: createPaint(36, 39),
};

const identity: Paint = (text) => text;

const PLAIN: Style = {
  strong: identity,
  faint: identity,
  success: identity,
  error: identity,
  warning: identity,
  name: identity,
};
