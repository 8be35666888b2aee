/**
 * The project's own lint rules: length limits, portability, plain language and reads of files.
 *
 * @module
 */

import { consoleFree } from "./console_free.ts";
import { fileLength } from "./file_length.ts";
import { functionLength } from "./function_length.ts";
import { parameterCount } from "./parameter_count.ts";
import { plainLanguage } from "./plain_language.ts";
import { portable } from "./portable.ts";
import { untrustedReads } from "./untrusted_reads.ts";

const plugin: Deno.lint.Plugin = {
  name: "swink",
  rules: {
    "console-free": consoleFree,
    "file-length": fileLength,
    "function-length": functionLength,
    "parameter-count": parameterCount,
    "plain-language": plainLanguage,
    portable,
    "untrusted-reads": untrustedReads,
  },
};

export default plugin;
