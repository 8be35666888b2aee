/**
 * What the providers refuse in a conversation, after their documentation and their error messages.
 *
 * Each check gets the body of a request as it was sent and gives the problems it finds; none means that the provider
 * takes it, as far as anybody has written down.
 *
 * @module
 */

import { readProxyRequest } from "../../adapters/proxy/request_shape.ts";
import { isJsonObject } from "../../src/core/json.ts";

/** Says what a provider would refuse in a body. */
export type RequestCheck = (body: unknown) => string[];

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Collects what is wrong. */
class Problems {
  readonly found: string[] = [];

  require(holds: unknown, problem: string): void {
    if (!holds) this.found.push(problem);
  }

  /** Every call is answered, once. */
  answered(calls: readonly unknown[], results: readonly unknown[]): void {
    const same = JSON.stringify(calls) === JSON.stringify(results);
    this.require(same, `calls ${calls.join()} are answered by ${results.join()}`);
    this.require(new Set(calls).size === calls.length, `a call id occurs twice: ${calls.join()}`);
  }

  /** A call has what every provider wants of it. */
  call(id: unknown, name: unknown, args: unknown, ids: RegExp = CALL_ID): void {
    this.require(ids.test(text(id)), `call id ${text(id)}`);
    this.require(TOOL_NAME.test(text(name)), `tool name ${text(name)}`);
    this.require(isJsonObject(args), `arguments of ${text(name)} are no object`);
  }

  /** User and the other take turns, and the user begins. */
  alternate(roles: readonly unknown[], other: string): void {
    for (const [index, role] of roles.entries()) {
      const expected = index % 2 === 0 ? "user" : other;
      this.require(role === expected, `message ${index} is of ${text(role)}, not ${expected}`);
    }
    this.require(roles.at(-1) === "user", "the last message is not the user's");
  }
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  }
  return found;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isBlank(value: unknown): boolean {
  return text(value).trim() === "";
}

function parsed(json: unknown): unknown {
  try {
    return JSON.parse(text(json));
  } catch {
    return undefined;
  }
}

function occurrences(body: unknown, member: string): number {
  return JSON.stringify(body).split(`"${member}":`).length - 1;
}

/** Members of one name in a list of blocks. */
function members(blocks: readonly unknown[], name: string): unknown[] {
  return blocks.map((block) => at(block, name)).filter((member) => member !== undefined);
}

/** Anthropic's Messages API. */
export function anthropicProblems(body: unknown): string[] {
  const problems = new Problems();
  const messages = list(at(body, "messages"));
  problems.alternate(messages.map((message) => at(message, "role")), "assistant");
  let open: unknown[] = [];
  for (const message of messages) {
    const blocks = list(at(message, "content"));
    problems.require(blocks.length > 0, "a message is empty");
    const results = blocks.filter((block) => at(block, "type") === "tool_result");
    problems.answered(open, results.map((result) => at(result, "tool_use_id")));
    problems.require(
      results.every((result, index) => result === blocks[index]),
      "results do not come first",
    );
    const calls = blocks.filter((block) => at(block, "type") === "tool_use");
    open = calls.map((call) => at(call, "id"));
    for (const call of calls) problems.call(at(call, "id"), at(call, "name"), at(call, "input"));
    for (const block of blocks) anthropicBlock(problems, block);
    const last = text(at(blocks.at(-1), "type"));
    problems.require(!last.includes("thinking"), "a reply ends in thinking");
  }
  problems.require(occurrences(body, "cache_control") <= 4, "more than four cache marks");
  const budget = Number(at(body, "thinking", "budget_tokens") ?? 0);
  problems.require(Number(at(body, "max_tokens")) > budget, "max_tokens leaves no room");
  for (const tool of list(at(body, "tools"))) {
    problems.require(TOOL_NAME.test(text(at(tool, "name"))), "tool name");
    problems.require(at(tool, "input_schema", "type") === "object", "tool schema");
  }
  return problems.found;
}

function anthropicBlock(problems: Problems, block: unknown): void {
  const type = text(at(block, "type"));
  const known = ["text", "image", "thinking", "redacted_thinking", "tool_use", "tool_result"];
  problems.require(known.includes(type), `block of type ${type}`);
  if (type === "text") problems.require(!isBlank(at(block, "text")), "blank text");
  if (type === "thinking") problems.require(at(block, "signature"), "thinking without signature");
  if (type === "redacted_thinking") problems.require(at(block, "data"), "redacted without data");
}

/** Bedrock's Converse API, with a Claude behind it. */
export function bedrockProblems(body: unknown): string[] {
  const problems = new Problems();
  const messages = list(at(body, "messages"));
  problems.alternate(messages.map((message) => at(message, "role")), "assistant");
  let open: unknown[] = [];
  for (const message of messages) {
    const blocks = list(at(message, "content"));
    problems.require(blocks.length > 0, "a message is empty");
    const isReply = at(message, "role") === "assistant";
    const results = isReply ? [] : members(blocks, "toolResult");
    problems.answered(open, results.map((result) => at(result, "toolUseId")));
    const calls = members(blocks, "toolUse").filter((call) => at(call, "toolUseId") !== "own_1");
    open = calls.map((call) => at(call, "toolUseId"));
    for (const call of calls) {
      problems.call(at(call, "toolUseId"), at(call, "name"), at(call, "input"));
    }
    for (const result of results) {
      problems.require(list(at(result, "content")).length > 0, "a result is empty");
    }
    for (const said of members(blocks, "text")) problems.require(!isBlank(said), "blank text");
    for (const reasoning of members(blocks, "reasoningContent")) {
      const mark = at(reasoning, "reasoningText", "signature") ?? at(reasoning, "redactedContent");
      problems.require(mark, "reasoning without signature");
    }
    problems.require(
      at(blocks.at(-1), "reasoningContent") === undefined,
      "a reply ends in thinking",
    );
  }
  problems.require(occurrences(body, "cachePoint") <= 4, "more than four cache points");
  const hasCalls = occurrences(messages, "toolUse") + occurrences(messages, "toolResult") > 0;
  problems.require(!hasCalls || at(body, "toolConfig"), "calls without a toolConfig");
  for (const tool of members(list(at(body, "toolConfig", "tools")), "toolSpec")) {
    problems.require(TOOL_NAME.test(text(at(tool, "name"))), "tool name");
    problems.require(at(tool, "inputSchema", "json", "type") === "object", "tool schema");
  }
  return problems.found;
}

/** Chat completions as OpenAI takes them. */
export function chatProblems(body: unknown): string[] {
  return conversationProblems(body, /^[^\s]{1,64}$/).found;
}

/** Mistral's chat completions. */
export function mistralProblems(body: unknown): string[] {
  const problems = conversationProblems(body, /^[a-zA-Z0-9]{9}$/);
  const roles = list(at(body, "messages")).map((message) => at(message, "role"));
  for (const [index, role] of roles.entries()) {
    const afterTool = roles[index - 1] === "tool";
    problems.require(!(afterTool && role === "user"), "a user speaks right after a tool");
  }
  problems.require(at(body, "stream_options") === undefined, "stream_options");
  return problems.found;
}

function conversationProblems(body: unknown, ids: RegExp): Problems {
  const problems = new Problems();
  let open: unknown[] = [];
  let answered: unknown[] = [];
  for (const message of list(at(body, "messages"))) {
    const role = at(message, "role");
    const content = at(message, "content");
    if (role === "tool") {
      answered.push(at(message, "tool_call_id"));
      const parts = list(content);
      const isText = parts.every((part) => at(part, "type") === "text");
      problems.require(!isBlank(content) || (parts.length > 0 && isText), "content of a result");
      continue;
    }
    problems.answered(open, answered);
    [open, answered] = [[], []];
    const calls = list(at(message, "tool_calls"));
    open = calls.map((call) => at(call, "id"));
    for (const call of calls) {
      const { name, arguments: args } = {
        name: "",
        arguments: "",
        ...asObject(at(call, "function")),
      };
      problems.call(at(call, "id"), name, parsed(args), ids);
    }
    const parts = list(content);
    for (const part of parts) {
      problems.require(at(part, "type") !== "text" || !isBlank(at(part, "text")), "blank text");
    }
    const says = !isBlank(content) || parts.length > 0 || calls.length > 0;
    problems.require(says, `an empty message of ${text(role)}`);
  }
  problems.answered(open, answered);
  for (const tool of list(at(body, "tools"))) {
    problems.require(TOOL_NAME.test(text(at(tool, "function", "name"))), "tool name");
    problems.require(at(tool, "function", "parameters", "type") === "object", "tool schema");
  }
  return problems;
}

function asObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}

/** OpenAI's Responses API. */
export function responsesProblems(body: unknown): string[] {
  const problems = new Problems();
  const items = list(at(body, "input"));
  const calls: unknown[] = [];
  const outputs: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const type = text(at(item, "type") ?? "message");
    const next = text(at(items[index + 1], "type") ?? at(items[index + 1], "role"));
    switch (type) {
      case "function_call":
        calls.push(at(item, "call_id"));
        problems.call(at(item, "call_id"), at(item, "name"), parsed(at(item, "arguments")));
        break;
      case "function_call_output":
        outputs.push(at(item, "call_id"));
        problems.require(at(item, "output") !== undefined, "an output is missing");
        break;
      case "reasoning":
        problems.require(!isBlank(at(item, "id")), "reasoning without id");
        problems.require(next !== "" && next !== "user", "reasoning without its follower");
        break;
      case "message": {
        const content = at(item, "content");
        problems.require(!isBlank(content) || list(content).length > 0, "an empty message");
        break;
      }
      default:
        problems.require(false, `item of type ${type}`);
    }
  }
  problems.answered(calls, outputs);
  for (const tool of list(at(body, "tools"))) {
    problems.require(TOOL_NAME.test(text(at(tool, "name"))), "tool name");
  }
  return problems.found;
}

/** Ollama's own API. */
export function ollamaProblems(body: unknown): string[] {
  const problems = new Problems();
  const roles = ["system", "user", "assistant", "tool"];
  for (const message of list(at(body, "messages"))) {
    problems.require(roles.includes(text(at(message, "role"))), "role of a message");
    problems.require(typeof at(message, "content") === "string", "content is no text");
    for (const call of list(at(message, "tool_calls"))) {
      problems.require(isJsonObject(at(call, "function", "arguments")), "arguments are no object");
    }
    for (const image of list(at(message, "images"))) {
      problems.require(/^[A-Za-z0-9+/]+=*$/.test(text(image)), "an image is no base64");
    }
    const isNamed = at(message, "role") !== "tool" || !isBlank(at(message, "tool_name"));
    problems.require(isNamed, "a result without the tool's name");
  }
  return problems.found;
}

const GEMINI_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const GEMINI_SCHEMA = ["additionalProperties", "$schema", "$ref", "const", "oneOf", "allOf"];

/** Google's Gemini API. */
export function geminiProblems(body: unknown): string[] {
  const problems = new Problems();
  const contents = list(at(body, "contents"));
  problems.require(at(contents[0], "role") === "user", "the user does not begin");
  problems.require(at(contents.at(-1), "role") === "user", "the last content is not the user's");
  let open: unknown[] = [];
  for (const content of contents) {
    const parts = list(at(content, "parts"));
    problems.require(parts.length > 0, "a content is empty");
    const results = members(parts, "functionResponse");
    problems.answered(open.map(String), results.map(callOf).map(String));
    for (const result of results) {
      problems.require(isJsonObject(at(result, "response")), "a response is no object");
    }
    const calls = members(parts, "functionCall");
    open = calls.map(callOf);
    for (const call of calls) {
      problems.require(GEMINI_NAME.test(text(at(call, "name"))), "name of a call");
      problems.require(isJsonObject(at(call, "args") ?? {}), "arguments are no object");
    }
    for (const said of members(parts, "text")) problems.require(!isBlank(said), "blank text");
  }
  for (const tool of list(at(body, "tools"))) {
    for (const declaration of list(at(tool, "functionDeclarations"))) {
      problems.require(GEMINI_NAME.test(text(at(declaration, "name"))), "tool name");
      const schema = JSON.stringify(at(declaration, "parameters") ?? {});
      const foreign = GEMINI_SCHEMA.filter((keyword) => schema.includes(`"${keyword}":`));
      problems.require(foreign.length === 0, `schema keywords ${foreign.join()}`);
    }
  }
  return problems.found;
}

function callOf(call: unknown): unknown {
  return `${text(at(call, "id"))} ${text(at(call, "name"))}`;
}

/** Our own proxy. */
export function proxyProblems(body: unknown): string[] {
  const read = readProxyRequest(JSON.stringify(body));
  return read.type === "problem" ? [read.problem] : [];
}
