/**
 * Names that Gemini accepts.
 *
 * @module
 */

import type { NameRule } from "../kit/request/wire_names.ts";

/** The rule for the names of functions: they begin with a letter or an underscore. */
export const GOOGLE_NAME_RULE: NameRule = {
  forbidden: /^[^A-Za-z_]|[^A-Za-z0-9_-]/g,
  maxLength: 64,
};
