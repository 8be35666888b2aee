/**
 * Converts the results of servers' tools.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import { compileSchema, formatErrors, runCompiled } from "../../core/schemas/compile_schema.ts";
import {
  type ServerContent,
  type ServerTool,
  type ServerToolResult,
  STRUCTURED_VALUE,
} from "../protocol/server_lists.ts";
import { toContentBlocks } from "./to_content_blocks.ts";

/** Maximum number of characters of a structured result as JSON; a session would keep all of it. */
const MAX_DETAILS_LENGTH = 1_000_000;

/**
 * Converts a result. A structured result that matches the schema of the tool becomes the details, and the content if
 * there is none.
 */
export async function toToolResult(
  { content, isError = false, _meta = {}, ...result }: ServerToolResult,
  { outputSchema }: Pick<ServerTool, "outputSchema">,
): Promise<AgentToolResult> {
  const { structuredContent = _meta[STRUCTURED_VALUE] } = result;
  const structured = structuredContent === undefined
    ? undefined
    : await checkStructured(structuredContent, isError ? undefined : outputSchema);
  const blocks: ServerContent[] = [...content];
  if (blocks.length === 0 && structured) blocks.push({ type: "text", text: structured.text });
  const problem = structured?.problem;
  return {
    // After the other content, however much of it is cut.
    content: [
      ...toContentBlocks(blocks),
      ...(problem === undefined ? [] : toContentBlocks([{ type: "text", text: problem }])),
    ],
    ...(structured && problem === undefined && { details: structuredContent }),
    ...(isError && { isError }),
  };
}

/** Returns a structured result as text, and why it cannot be used, as a note for the model. */
async function checkStructured(
  value: unknown,
  schema: JsonSchema | undefined,
): Promise<{ readonly text: string; readonly problem?: string | undefined }> {
  const text = JSON.stringify(value);
  if (text.length > MAX_DETAILS_LENGTH) {
    return {
      text,
      problem: `[The structured result is left out: it has ${text.length} characters]`,
    };
  }
  return { text, problem: schema && await findSchemaProblem(value, schema) };
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
