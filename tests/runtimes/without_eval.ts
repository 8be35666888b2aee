/**
 * The program of `without_eval_test.ts`: agents in a runtime that forbids `eval`. Prints the texts of the results of tools
 * and the structured answers.
 *
 * @module
 */

import {
  Agent,
  type AgentMessage,
  type AgentTool,
  defineTool,
  extractText,
  type StandardJsonSchemaSource,
  validateToolArguments,
} from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

/** Creates a schema as that of a library, which checks that a value is of a type, or has a property of that type. */
function createSchema(type: "array" | "number", property?: string): StandardJsonSchemaSource {
  const own = { type };
  const isValid = type === "array" ? Array.isArray : Number.isFinite;
  const validate = (value: unknown): unknown => {
    const checked = property === undefined ? value : Object(value)[property];
    if (isValid(checked)) return { value };
    return { issues: [{ message: `no ${type}`, path: [property].filter(Boolean) }] };
  };
  const jsonSchema = property === undefined
    ? own
    : { type: "object", properties: { [property]: own } };
  return {
    "~standard": { version: 1, vendor: "acme", validate, jsonSchema: { input: () => jsonSchema } },
  };
}

function listResults(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

/** Calls a tool with a number, then with a text; returns the results. */
async function callTool(tool: AgentTool): Promise<string[]> {
  const { name } = tool;
  const streamFn = scriptedStream([
    reply([toolCall(name, { count: 1 }), toolCall(name, { count: "one" })]),
    reply("Done"),
  ]);
  const { messages } = await new Agent({ model: "any/model", tools: [tool], streamFn }).prompt(
    "Go",
  );
  return listResults(messages);
}

const execute = () => "counted";

const checked = defineTool({
  name: "checked",
  description: "Counts.",
  parameters: createSchema("number", "count"),
  execute,
});

// A program may use the schema without the check of its library.
const { validate: _validate, ...unchecked } = checked;

// Filling in a default is no check.
const plain = defineTool({
  name: "plain",
  description: "Counts.",
  parameters: {
    type: "object",
    properties: { count: { type: "number" }, unit: { type: "string", default: "piece" } },
  },
  execute,
});

const answers = scriptedStream([
  reply([toolCall("structured_output", { value: 1 })]),
  reply([toolCall("structured_output", { value: ["a"] })]),
]);
const answering = new Agent({ model: "any/model", streamFn: answers });

console.log(JSON.stringify({
  checked: await callTool(checked),
  plain: await callTool(plain),
  unchecked: await callTool({ ...unchecked, name: "plain" }),
  alone: await validateToolArguments(checked.parameters, { count: "one" })
    .catch(({ message }) => message),
  answer: await answering.structuredOutput("List", createSchema("array")),
}));
