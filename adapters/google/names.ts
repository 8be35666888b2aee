/**
 * Function names that Google accepts.
 *
 * @module
 */

import type { NameRule } from "../kit/request/wire_names.ts";

/** Rule for function names: the first character is a letter or an underscore. */
export const GOOGLE_NAME_RULE: NameRule = {
  forbidden: /^[^A-Za-z_]|[^A-Za-z0-9_-]/g,
  maxLength: 64,
};
