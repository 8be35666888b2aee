/**
 * Options of commands that print lists.
 *
 * @module
 */

import type { OptionDefinitions } from "../command_line/definition.ts";

/** Maximum number of sessions of a list without `--limit`. */
export const DEFAULT_SESSION_LIMIT = 20;

/** The format of a list. */
export const LIST_FORMAT_OPTIONS = {
  outputFormat: {
    short: "o",
    type: "string",
    value: "format",
    description: "Format of standard output.",
    choices: ["text", "json"],
    default: "text",
    synonyms: { "--json": "-o json", "--format": "-o" },
  },
} as const satisfies OptionDefinitions;
