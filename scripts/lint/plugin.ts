/**
 * The house's own lint rules: what must stay small stays small, and what must run anywhere touches no one runtime.
 *
 * @module
 */

import { consoleFree } from "./console_free.ts";
import { fileLength } from "./file_length.ts";
import { functionLength } from "./function_length.ts";
import { parameterCount } from "./parameter_count.ts";
import { portable } from "./portable.ts";

const plugin: Deno.lint.Plugin = {
  name: "swink",
  rules: {
    "console-free": consoleFree,
    "file-length": fileLength,
    "function-length": functionLength,
    "parameter-count": parameterCount,
    portable,
  },
};

export default plugin;
