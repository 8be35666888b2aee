/**
 * Rules of the providers for conversations, from their documentation and error messages.
 *
 * Each check returns the problems in a request body. A body without problems breaks no documented rule.
 *
 * @module
 */

import { parseProxyRequest } from "../../adapters/proxy/request.ts";
import { isJsonObject } from "../../src/core/json/json.ts";

/** Returns the problems in a request body. */
export type RequestCheck = (body: unknown) => string[];

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Collects problems. */
class Problems {
  readonly found: string[] = [];

  require(condition: unknown, problem: string): void {
    if (!condition) this.found.push(problem);
  }

  /** Requires one result for each call. */
  requireAnswered(calls: readonly unknown[], results: readonly unknown[]): void {
    const same = JSON.stringify(calls) === JSON.stringify(results);
    this.require(same, `calls ${calls.join()} have results ${results.join()}`);
    this.require(new Set(calls).size === calls.length, `duplicate call id: ${calls.join()}`);
  }

  /** Requires valid id, name and arguments of a call. */
  requireValidCall(id: unknown, name: unknown, args: unknown, ids: RegExp = CALL_ID): void {
    this.require(ids.test(asText(id)), `call id ${asText(id)}`);
    this.require(TOOL_NAME.test(asText(name)), `tool name ${asText(name)}`);
    this.require(isJsonObject(args), `arguments of ${asText(name)} are not an object`);
  }

  /** Requires alternating roles that begin and end with the user. */
  requireAlternating(roles: readonly unknown[], other: string): void {
    for (const [index, role] of roles.entries()) {
      const expected = index % 2 === 0 ? "user" : other;
      this.require(role === expected, `message ${index} has role ${asText(role)}, not ${expected}`);
    }
    this.require(roles.at(-1) === "user", "the last message is not a user message");
  }
}

function getPath(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, step) : undefined;
  }
  return found;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isBlank(value: unknown): boolean {
  return asText(value).trim() === "";
}

function parseJson(json: unknown): unknown {
  try {
    return JSON.parse(asText(json));
  } catch {
    return undefined;
  }
}

function countOccurrences(body: unknown, member: string): number {
  return JSON.stringify(body).split(`"${member}":`).length - 1;
}

/** Returns the members with a name in a list of blocks. */
function collectMembers(blocks: readonly unknown[], name: string): unknown[] {
  return blocks.map((block) => getPath(block, name)).filter((member) => member !== undefined);
}

/** Checks a request to Anthropic's Messages API. */
export function findAnthropicProblems(body: unknown): string[] {
  const problems = new Problems();
  const messages = asList(getPath(body, "messages"));
  problems.requireAlternating(messages.map((message) => getPath(message, "role")), "assistant");
  let open: unknown[] = [];
  for (const message of messages) {
    const blocks = asList(getPath(message, "content"));
    problems.require(blocks.length > 0, "a message is empty");
    const results = blocks.filter((block) => getPath(block, "type") === "tool_result");
    problems.requireAnswered(open, results.map((result) => getPath(result, "tool_use_id")));
    problems.require(
      results.every((result, index) => result === blocks[index]),
      "results are not first",
    );
    const calls = blocks.filter((block) => getPath(block, "type") === "tool_use");
    open = calls.map((call) => getPath(call, "id"));
    for (const call of calls) {
      problems.requireValidCall(getPath(call, "id"), getPath(call, "name"), getPath(call, "input"));
    }
    for (const block of blocks) checkAnthropicBlock(problems, block);
    const last = asText(getPath(blocks.at(-1), "type"));
    problems.require(!last.includes("thinking"), "reply ends with thinking");
  }
  problems.require(countOccurrences(body, "cache_control") <= 4, "more than four cache marks");
  const budget = Number(getPath(body, "thinking", "budget_tokens") ?? 0);
  problems.require(Number(getPath(body, "max_tokens")) > budget, "max_tokens leaves no room");
  for (const tool of asList(getPath(body, "tools"))) {
    problems.require(TOOL_NAME.test(asText(getPath(tool, "name"))), "tool name");
    const isOwn = getPath(tool, "type") !== undefined;
    problems.require(
      isOwn || getPath(tool, "input_schema", "type") === "object",
      "tool schema",
    );
  }
  return problems.found;
}

function checkAnthropicBlock(problems: Problems, block: unknown): void {
  const type = asText(getPath(block, "type"));
  const known = [
    "text",
    "image",
    "document",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "server_tool_use",
    "web_search_tool_result",
  ];
  problems.require(known.includes(type), `block of type ${type}`);
  if (type === "text") problems.require(!isBlank(getPath(block, "text")), "blank text");
  if (type === "thinking") {
    problems.require(getPath(block, "signature"), "thinking without signature");
  }
  if (type === "redacted_thinking") {
    problems.require(getPath(block, "data"), "redacted without data");
  }
}

/** Checks a request to Bedrock's Converse API for a Claude model. */
export function findBedrockProblems(body: unknown): string[] {
  const problems = new Problems();
  const messages = asList(getPath(body, "messages"));
  problems.requireAlternating(messages.map((message) => getPath(message, "role")), "assistant");
  let open: unknown[] = [];
  for (const message of messages) {
    const blocks = asList(getPath(message, "content"));
    problems.require(blocks.length > 0, "a message is empty");
    const isReply = getPath(message, "role") === "assistant";
    const results = isReply ? [] : collectMembers(blocks, "toolResult");
    problems.requireAnswered(open, results.map((result) => getPath(result, "toolUseId")));
    const calls = collectMembers(blocks, "toolUse").filter((call) =>
      getPath(call, "toolUseId") !== "own_1"
    );
    open = calls.map((call) => getPath(call, "toolUseId"));
    for (const call of calls) {
      problems.requireValidCall(
        getPath(call, "toolUseId"),
        getPath(call, "name"),
        getPath(call, "input"),
      );
    }
    for (const result of results) {
      problems.require(asList(getPath(result, "content")).length > 0, "a result is empty");
    }
    for (const text of collectMembers(blocks, "text")) {
      problems.require(!isBlank(text), "blank text");
    }
    for (const reasoning of collectMembers(blocks, "reasoningContent")) {
      const signature = getPath(reasoning, "reasoningText", "signature") ??
        getPath(reasoning, "redactedContent");
      problems.require(signature, "reasoning without signature");
    }
    problems.require(
      getPath(blocks.at(-1), "reasoningContent") === undefined,
      "reply ends with thinking",
    );
    for (const [index, block] of blocks.entries()) {
      const format = getPath(blocks[index - 1], "document", "format") ?? "pdf";
      const isAccepted = getPath(block, "cachePoint") === undefined || format === "pdf";
      problems.require(isAccepted, "cache point after a document that is no PDF");
    }
  }
  problems.require(countOccurrences(body, "cachePoint") <= 4, "more than four cache points");
  const hasCalls =
    countOccurrences(messages, "toolUse") + countOccurrences(messages, "toolResult") > 0;
  problems.require(!hasCalls || getPath(body, "toolConfig"), "calls without a toolConfig");
  for (const tool of collectMembers(asList(getPath(body, "toolConfig", "tools")), "toolSpec")) {
    problems.require(TOOL_NAME.test(asText(getPath(tool, "name"))), "tool name");
    problems.require(getPath(tool, "inputSchema", "json", "type") === "object", "tool schema");
  }
  return problems.found;
}

/** Checks a request to OpenAI's chat completions API. */
export function findChatProblems(body: unknown): string[] {
  return checkConversation(body, /^[^\s]{1,64}$/).found;
}

/** Checks a request to Mistral's chat completions API. */
export function findMistralProblems(body: unknown): string[] {
  const problems = checkConversation(body, /^[a-zA-Z0-9]{9}$/);
  const roles = asList(getPath(body, "messages")).map((message) => getPath(message, "role"));
  for (const [index, role] of roles.entries()) {
    const afterTool = roles[index - 1] === "tool";
    problems.require(!(afterTool && role === "user"), "user message after a tool result");
  }
  problems.require(getPath(body, "stream_options") === undefined, "stream_options");
  return problems.found;
}

function checkConversation(body: unknown, ids: RegExp): Problems {
  const problems = new Problems();
  let open: unknown[] = [];
  let answered: unknown[] = [];
  for (const message of asList(getPath(body, "messages"))) {
    const role = getPath(message, "role");
    const content = getPath(message, "content");
    if (role === "tool") {
      answered.push(getPath(message, "tool_call_id"));
      const parts = asList(content);
      const isText = parts.every((part) => getPath(part, "type") === "text");
      problems.require(!isBlank(content) || (parts.length > 0 && isText), "content of a result");
      continue;
    }
    problems.requireAnswered(open, answered);
    [open, answered] = [[], []];
    const calls = asList(getPath(message, "tool_calls"));
    open = calls.map((call) => getPath(call, "id"));
    for (const call of calls) {
      const { name, arguments: args } = {
        name: "",
        arguments: "",
        ...asObject(getPath(call, "function")),
      };
      problems.requireValidCall(getPath(call, "id"), name, parseJson(args), ids);
    }
    const parts = asList(content);
    for (const part of parts) {
      problems.require(
        getPath(part, "type") !== "text" || !isBlank(getPath(part, "text")),
        "blank text",
      );
    }
    const hasContent = !isBlank(content) || parts.length > 0 || calls.length > 0;
    problems.require(hasContent, `empty message with role ${asText(role)}`);
  }
  problems.requireAnswered(open, answered);
  for (const tool of asList(getPath(body, "tools"))) {
    if (getPath(tool, "type") !== "function") continue;
    problems.require(TOOL_NAME.test(asText(getPath(tool, "function", "name"))), "tool name");
    problems.require(getPath(tool, "function", "parameters", "type") === "object", "tool schema");
  }
  return problems;
}

function asObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}

/** Checks a request to OpenAI's Responses API. */
export function findResponsesProblems(body: unknown): string[] {
  const problems = new Problems();
  const items = asList(getPath(body, "input"));
  const calls: unknown[] = [];
  const outputs: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const type = asText(getPath(item, "type") ?? "message");
    const next = asText(getPath(items[index + 1], "type") ?? getPath(items[index + 1], "role"));
    switch (type) {
      case "function_call":
        calls.push(getPath(item, "call_id"));
        problems.requireValidCall(
          getPath(item, "call_id"),
          getPath(item, "name"),
          parseJson(getPath(item, "arguments")),
        );
        break;
      case "function_call_output":
        outputs.push(getPath(item, "call_id"));
        problems.require(getPath(item, "output") !== undefined, "an output is missing");
        break;
      case "reasoning":
        problems.require(!isBlank(getPath(item, "id")), "reasoning without id");
        problems.require(next !== "" && next !== "user", "reasoning without a following item");
        break;
      case "message": {
        const content = getPath(item, "content");
        problems.require(!isBlank(content) || asList(content).length > 0, "an empty message");
        break;
      }
      case "web_search_call":
        break;
      default:
        problems.require(false, `item of type ${type}`);
    }
  }
  problems.requireAnswered(calls, outputs);
  for (const tool of asList(getPath(body, "tools"))) {
    const isServerTool = getPath(tool, "type") !== "function";
    problems.require(isServerTool || TOOL_NAME.test(asText(getPath(tool, "name"))), "tool name");
  }
  return problems.found;
}

/** Checks a request to Ollama's API. */
export function findOllamaProblems(body: unknown): string[] {
  const problems = new Problems();
  const roles = ["system", "user", "assistant", "tool"];
  for (const message of asList(getPath(body, "messages"))) {
    problems.require(roles.includes(asText(getPath(message, "role"))), "role of a message");
    problems.require(typeof getPath(message, "content") === "string", "content is not text");
    for (const call of asList(getPath(message, "tool_calls"))) {
      problems.require(
        isJsonObject(getPath(call, "function", "arguments")),
        "arguments are not an object",
      );
    }
    for (const image of asList(getPath(message, "images"))) {
      problems.require(/^[A-Za-z0-9+/]+=*$/.test(asText(image)), "image is not base64");
    }
    const isNamed = getPath(message, "role") !== "tool" || !isBlank(getPath(message, "tool_name"));
    problems.require(isNamed, "result without a tool name");
  }
  return problems.found;
}

const GOOGLE_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const GOOGLE_SCHEMA = ["additionalProperties", "$schema", "$ref", "const", "oneOf", "allOf"];

/** Checks a request to Google's Gemini API. */
export function findGoogleProblems(body: unknown): string[] {
  const problems = new Problems();
  const contents = asList(getPath(body, "contents"));
  problems.require(
    getPath(contents[0], "role") === "user",
    "the first content is not a user content",
  );
  problems.require(
    getPath(contents.at(-1), "role") === "user",
    "the last content is not a user content",
  );
  let open: unknown[] = [];
  for (const content of contents) {
    const parts = asList(getPath(content, "parts"));
    problems.require(parts.length > 0, "a content is empty");
    const results = collectMembers(parts, "functionResponse");
    problems.requireAnswered(open.map(String), results.map(toCallKey).map(String));
    for (const result of results) {
      problems.require(isJsonObject(getPath(result, "response")), "response is not an object");
    }
    const calls = collectMembers(parts, "functionCall");
    open = calls.map(toCallKey);
    for (const call of calls) {
      problems.require(GOOGLE_NAME.test(asText(getPath(call, "name"))), "name of a call");
      problems.require(isJsonObject(getPath(call, "args") ?? {}), "arguments are not an object");
    }
    for (const text of collectMembers(parts, "text")) {
      problems.require(!isBlank(text), "blank text");
    }
  }
  for (const tool of asList(getPath(body, "tools"))) {
    for (const declaration of asList(getPath(tool, "functionDeclarations"))) {
      problems.require(GOOGLE_NAME.test(asText(getPath(declaration, "name"))), "tool name");
      const schema = JSON.stringify(getPath(declaration, "parameters") ?? {});
      const unsupported = GOOGLE_SCHEMA.filter((keyword) => schema.includes(`"${keyword}":`));
      problems.require(unsupported.length === 0, `schema keywords ${unsupported.join()}`);
    }
  }
  return problems.found;
}

function toCallKey(call: unknown): unknown {
  return `${asText(getPath(call, "id"))} ${asText(getPath(call, "name"))}`;
}

/** Checks a request to the proxy of this project. */
export function findProxyProblems(body: unknown): string[] {
  const parsed = parseProxyRequest(JSON.stringify(body));
  return parsed.type === "rejected" ? [parsed.rejection.message] : [];
}
