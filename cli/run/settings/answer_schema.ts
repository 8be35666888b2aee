/**
 * The JSON Schema of `--json-schema`.
 *
 * @module
 */

import type { JsonSchema } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import { UsageError } from "../../host/cli_error.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { readTextFile } from "../../host/read_text_file.ts";
import { resolvePath } from "./resolve_path.ts";

/**
 * Reads a schema: JSON, or the path of a file with JSON.
 *
 * @throws {UsageError} If the file cannot be read, or has no JSON object.
 */
export function readAnswerSchema(text: string): JsonSchema {
  const isInline = text.trimStart().startsWith("{");
  const shown = JSON.stringify(isInline ? text.slice(0, 60) : text);
  const fail = (reason: string) =>
    new UsageError(`Invalid value ${shown} for --json-schema: ${reason}`);
  const parse = (json: string): unknown => {
    try {
      return JSON.parse(json);
    } catch (error) {
      throw fail(getErrorMessage(error));
    }
  };
  const read = (): string => {
    try {
      return readTextFile(resolvePath(text));
    } catch (error) {
      throw fail(getFileProblem(error));
    }
  };
  const schema = parse(isInline ? text : read());
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) {
    return schema as JsonSchema;
  }
  throw fail("must be a JSON object");
}
