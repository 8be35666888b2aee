/**
 * Converts the results of servers' tools.
 *
 * @module
 */

import { compileSchema, formatErrors, runCompiled } from "../../core/compile_schema.ts";
import { getErrorMessage } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/json.ts";
import type { AgentToolResult } from "../../core/tool_result.ts";
import {
  type ServerContent,
  type ServerTool,
  type ServerToolResult,
  STRUCTURED_VALUE,
} from "../protocol/server_lists.ts";
import { toContentBlocks } from "./to_content_blocks.ts";

/**
 * Converts a result. A structured result that matches the schema of the tool becomes the details, and the content if
 * there is none.
 */
export async function toToolResult(
  { content, isError = false, _meta = {}, ...result }: ServerToolResult,
  { outputSchema }: Pick<ServerTool, "outputSchema">,
): Promise<AgentToolResult> {
  const { structuredContent = _meta[STRUCTURED_VALUE] } = result;
  const isStructured = structuredContent !== undefined;
  const problem = isStructured && !isError && outputSchema
    ? await findSchemaProblem(structuredContent, outputSchema)
    : undefined;
  const blocks: ServerContent[] = [...content];
  if (blocks.length === 0 && isStructured) {
    blocks.push({ type: "text", text: JSON.stringify(structuredContent) });
  }
  if (problem !== undefined) blocks.push({ type: "text", text: problem });
  return {
    content: toContentBlocks(blocks),
    ...(isStructured && problem === undefined && { details: structuredContent }),
    ...(isError && { isError }),
  };
}

/** Returns a note for the model; `undefined` if the value is valid. A schema that cannot be used allows any value. */
async function findSchemaProblem(value: unknown, schema: JsonSchema): Promise<string | undefined> {
  try {
    const errors = runCompiled(await compileSchema(schema), value);
    if (errors.length === 0) return undefined;
    return `[The structured result does not match its schema:\n${formatErrors(errors)}]`;
  } catch (error) {
    return `[The structured result was not checked: ${getErrorMessage(error)}]`;
  }
}
