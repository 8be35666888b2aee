/**
 * Grammars of tool calls and of replies that match a schema.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json/json.ts";
import type { ToolSpec } from "../../core/streams/stream.ts";
import { type CallFormat, CHANNEL_CALLS } from "../prompt/call_format.ts";
import { SchemaGrammar, toLiteral } from "./schema_grammar.ts";

/** The replies that a grammar accepts. */
export interface ReplyGrammarOptions {
  /** Schema of a reply without calls. Default: such a reply is not accepted. */
  readonly schema?: JsonSchema | undefined;
  /** Tools that may be called; none for a reply without calls. */
  readonly tools: readonly ToolSpec[];
  /** How calls are written. */
  readonly format: CallFormat;
  /** Whether the reply may begin with thinking. */
  readonly mayThink: boolean;
}

/** Longest grammar; llama.cpp needs time for each token that is proportional to its length. */
const MAX_LENGTH = 200_000;
/** Most ways in which a rule may begin; a schema whose alternatives refer to each other could have billions. */
const MAX_STARTS = 1_000;

/** Thinking before an answer. */
const THINKING = String.raw`("<think>" ([^<] | "<" [^/] | "</" [^t])* "</think>" [ \n\t]{0,4})?`;

/** The id that some models of Mistral write after the name of a tool. */
const CALL_ID = `("[CALL_ID]" [a-zA-Z0-9]{1,32})?`;

/** Thinking before an answer of gpt-oss, and the start of the next message. */
const ANALYSIS = String
  .raw`("<|channel|>analysis<|message|>" ([^<] | "<" [^|])* "<|end|><|start|>assistant")?`;

/** Creates the grammar of a whole reply: a JSON value, or calls. */
export function createReplyGrammar(options: ReplyGrammarOptions): string {
  const text = toUsableText(buildReplyGrammar(options));
  if (text !== undefined) return text;
  const { schema, tools } = options;
  const simple = { ...options, schema: schema && {}, tools: tools.map(acceptAny) };
  return buildReplyGrammar(simple).toText();
}

/** Returns the text of a grammar; `undefined` if llama.cpp would need too long for it. */
function toUsableText(grammar: SchemaGrammar): string | undefined {
  if (grammar.countStarts() > MAX_STARTS) return undefined;
  const text = grammar.toText();
  return text.length <= MAX_LENGTH ? text : undefined;
}

function buildReplyGrammar(
  { schema, tools, format, mayThink }: ReplyGrammarOptions,
): SchemaGrammar {
  const grammar = new SchemaGrammar();
  const answers: string[] = [];
  const isChannel = format === CHANNEL_CALLS;
  if (schema) {
    const start = isChannel ? `${toLiteral("<|channel|>final<|message|>")} ` : "";
    answers.push(start + grammar.addSchema(schema));
  }
  if (tools.length > 0 && isChannel) {
    answers.push(addChannelCall(grammar, tools));
  } else if (tools.length > 0) {
    addCallRules(grammar, tools, format);
    const { open, close } = format;
    const next = close === "" ? "" : ` (space ${toLiteral(open)} content)*`;
    answers.push(`${toLiteral(open)} content${next}`);
  }
  const thinking = mayThink ? `${isChannel ? ANALYSIS : THINKING} ` : "";
  grammar.addRule("root", `${thinking}(${answers.join(" | ")})`);
  return grammar;
}

/** Adds a call of one of the tools, as gpt-oss writes it, and returns the name of its rule. */
function addChannelCall(grammar: SchemaGrammar, tools: readonly ToolSpec[]): string {
  const calls = tools.map(({ name, parameters }) => {
    const start = `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`;
    return `${toLiteral(start)} ${grammar.addSchema({ type: "object", ...parameters })}`;
  });
  grammar.addRule("call", calls.join(" | "));
  return "call";
}

/** Creates the grammar of one call, or of one list of calls, after the text that begins it. */
export function createCallGrammar(tools: readonly ToolSpec[], format: CallFormat): string {
  return toUsableText(buildCallGrammar(tools, format)) ??
    buildCallGrammar(tools.map(acceptAny), format).toText();
}

function buildCallGrammar(tools: readonly ToolSpec[], format: CallFormat): SchemaGrammar {
  const grammar = new SchemaGrammar();
  addCallRules(grammar, tools, format);
  grammar.addRule("root", "content");
  return grammar;
}

/** Adds the rule `content`: a call of one of the tools and the text after it. */
function addCallRules(
  grammar: SchemaGrammar,
  tools: readonly ToolSpec[],
  { close, argumentsName, isList, argumentsOpen }: CallFormat,
): void {
  for (const [index, { name, parameters }] of tools.entries()) {
    const args = grammar.addSchema({ type: "object", ...parameters });
    const start = `{"name": ${JSON.stringify(name)}, ${JSON.stringify(argumentsName)}: `;
    const rule = argumentsOpen === undefined
      ? `${toLiteral(start)} ${args} "}"`
      : `${toLiteral(name)} ${CALL_ID} ${toLiteral(argumentsOpen)} ${args}`;
    grammar.addRule(`call${index}`, rule);
  }
  grammar.addRule("call", tools.map((_, index) => `call${index}`).join(" | "));
  const list = String.raw`"[" call ("," " "? call)* "]"`;
  grammar.addRule("content", `space ${isList ? list : "call"} space ${toLiteral(close)}`);
}

function acceptAny(tool: ToolSpec): ToolSpec {
  return { ...tool, parameters: { type: "object" } };
}
