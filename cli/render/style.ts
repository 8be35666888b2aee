/**
 * Text styles, and the detection of color support.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";

/** Applies a style to a text. */
export type Paint = (text: string) => string;

/** The styles, by the role of the text. */
export interface Style {
  /** Headings and emphasis. */
  readonly strong: Paint;
  /** Secondary text. */
  readonly faint: Paint;
  /** Success, added lines. */
  readonly success: Paint;
  /** Errors, removed lines. */
  readonly error: Paint;
  /** Warnings. */
  readonly warning: Paint;
  /** Names of tools, commands and options. */
  readonly name: Paint;
}

/** Returns the style of an output: colored on a terminal, unless the environment overrides it. */
export function getStyle(
  output: Pick<Output, "isTerminal">,
  env: (name: string) => string | undefined,
): Style {
  return hasColor(output, env) ? COLORED : PLAIN;
}

/** Returns the style without colors. */
export function getPlainStyle(): Style {
  return PLAIN;
}

/** Whether an output is colored: `FORCE_COLOR` overrides `NO_COLOR` (no-color.org), which overrides the terminal. */
function hasColor(
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
