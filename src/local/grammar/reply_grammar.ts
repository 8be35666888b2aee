/**
 * Grammars of tool calls and of replies that match a schema.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json.ts";
import type { ToolSpec } from "../../core/stream.ts";
import type { CallFormat } from "../prompt/call_format.ts";
import { SchemaGrammar, toLiteral } from "./schema_grammar.ts";

/** Longest grammar; llama.cpp needs time for each token that is proportional to its length. */
const MAX_LENGTH = 200_000;

/** Part of a call that a grammar describes. */
export type CallPart =
  /** The call and the text after it; the model has written the text before it. */
  | "content"
  /** One or more calls with the texts around them. */
  | "calls";

/** Creates the grammar of a reply that is a JSON value. */
export function createReplyGrammar(schema: JsonSchema): string {
  const grammar = new SchemaGrammar();
  grammar.addRule("root", grammar.addSchema(schema));
  const text = grammar.toText();
  return text.length > MAX_LENGTH ? createReplyGrammar({}) : text;
}

/** Creates the grammar of calls of some tools. */
export function createCallGrammar(
  tools: readonly ToolSpec[],
  format: CallFormat,
  part: CallPart,
): string {
  const text = writeCallGrammar(tools, format, part);
  if (text.length <= MAX_LENGTH) return text;
  const anyArguments = tools.map((tool) => ({ ...tool, parameters: { type: "object" } }));
  return writeCallGrammar(anyArguments, format, part);
}

function writeCallGrammar(
  tools: readonly ToolSpec[],
  { open, close, argumentsName, isList }: CallFormat,
  part: CallPart,
): string {
  const grammar = new SchemaGrammar();
  const calls = tools.map(({ name, parameters }, index) => {
    const args = grammar.addSchema(parameters);
    const rule = [
      toLiteral('{"name": '),
      toLiteral(JSON.stringify(name)),
      toLiteral(`, ${JSON.stringify(argumentsName)}: `),
      args,
      toLiteral("}"),
    ].join(" ");
    grammar.addRule(`call${index}`, rule);
    return `call${index}`;
  });
  grammar.addRule("call", calls.join(" | "));
  const list = String.raw`"[" call ("," " "? call)* "]"`;
  const content = `space ${isList ? list : "call"} space ${toLiteral(close)}`;
  grammar.addRule("content", content);
  const repeated = close === "" ? "content" : `content (space ${toLiteral(open)} content)*`;
  grammar.addRule("root", part === "content" ? "content" : `${toLiteral(open)} ${repeated}`);
  return grammar.toText();
}
