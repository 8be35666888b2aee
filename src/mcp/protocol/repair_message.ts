/**
 * Repairs the messages of a server before the client checks them, so that one invalid tool or block does not invalidate
 * the list or the result that contains it, and none is nested too deep or too large.
 *
 * @module
 */

import { isDeeperThan, isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ProtocolMessage } from "./client_package.ts";
import type {
  McpToolHints,
  ServerContent,
  ServerPrompt,
  ServerPromptArgument,
  ServerPromptMessage,
  ServerResource,
  ServerResourceContents,
  ServerResourceTemplate,
  ServerTool,
} from "./server_lists.ts";
import { STRUCTURED_VALUE } from "./server_lists.ts";
import { toSafeSchema } from "./tool_schema.ts";

/** Maximum nesting of a message. */
const MAX_DEPTH = 100;
/** Maximum number of characters of a name. */
const MAX_NAME_LENGTH = 256;
/** Maximum number of characters of a title or a description; the rest is cut off. */
const MAX_DESCRIPTION_LENGTH = 16_384;
/** Maximum number of characters of a URI. */
const MAX_URI_LENGTH = 8_192;

/** The JSON-RPC code of an internal error. */
const INTERNAL_ERROR = -32603;

/** Called with each part that is removed, as a sentence without a period. */
export type ReportProblem = (problem: string) => void;

/**
 * Returns a message without its invalid parts; `undefined` if it is no JSON-RPC message, or is nested too deep. A response
 * that is nested too deep becomes an error response.
 */
export function repairMessage(value: unknown, report: ReportProblem): ProtocolMessage | undefined {
  if (!isMessage(value)) {
    report("sent data that is not a JSON-RPC message");
    return undefined;
  }
  const message = "result" in value && isJsonObject(value.result)
    ? { ...value, result: repairResult(value.result, report) }
    : value;
  if (isDeeperThan(message, MAX_DEPTH)) {
    report(`sent a message that is nested more than ${MAX_DEPTH} levels deep`);
    return value.id === undefined || value.method !== undefined
      ? undefined
      : createErrorResponse(value.id, "The response is nested too deep");
  }
  if (!("result" in value) || isJsonObject(value.result)) return message;
  return value.id === undefined
    ? undefined
    : createErrorResponse(value.id, "The result is not an object");
}

/** Creates the response to a request that has none. */
export function createErrorResponse(id: string | number, message: string): ProtocolMessage {
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}

function isMessage(value: unknown): value is ProtocolMessage {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params } = value;
  const hasId = typeof id === "string" || typeof id === "number";
  return (hasId || id === undefined) && (hasId || typeof method === "string") &&
    (method === undefined || typeof method === "string") &&
    (params === undefined || isJsonObject(params));
}

/** The lists that a result may have, with the function that repairs an item. */
const LISTS: Readonly<Record<string, (item: unknown, report: ReportProblem) => unknown>> = {
  tools: repairTool,
  prompts: repairPrompt,
  resources: repairResource,
  resourceTemplates: repairResourceTemplate,
  messages: repairPromptMessage,
  contents: repairResourceContents,
  content: repairContent,
};

function repairResult(result: JsonObject, report: ReportProblem): JsonObject {
  const repaired: Record<string, unknown> = { ...result };
  for (const [name, repairItem] of Object.entries(LISTS)) {
    if (!Object.hasOwn(repaired, name)) continue;
    const { [name]: list } = repaired;
    const items: readonly unknown[] = Array.isArray(list) ? list : toItems(name, list);
    repaired[name] = items.flatMap((item) => repairItem(item, report) ?? []);
  }
  if (typeof repaired["nextCursor"] !== "string") delete repaired["nextCursor"];
  if ("isError" in repaired) repaired["isError"] = repaired["isError"] === true;
  if (!isJsonObject(repaired["_meta"])) delete repaired["_meta"];
  return moveStructuredValue(repaired);
}

/**
 * Returns the items of a value that is no list: a server may forget the list around its content. Some languages write an empty
 * list as an object, and an empty block would hide a structured result.
 */
function toItems(name: string, value: unknown): readonly unknown[] {
  if (name !== "content") return [];
  const isPresent = typeof value === "string"
    ? value !== ""
    : isJsonObject(value) && Object.keys(value).length > 0;
  return isPresent ? [value] : [];
}

/** Moves a structured result that is no object to where the client keeps it: it refuses it in the first versions. */
function moveStructuredValue(
  { structuredContent, _meta, ...result }: JsonObject,
): JsonObject {
  const meta = isJsonObject(_meta) && { _meta };
  if (structuredContent === undefined) return { ...result, ...meta };
  if (isJsonObject(structuredContent)) return { ...result, structuredContent, ...meta };
  return { ...result, _meta: { ...meta && meta._meta, [STRUCTURED_VALUE]: structuredContent } };
}

function repairTool(tool: unknown, report: ReportProblem): ServerTool | undefined {
  if (!isJsonObject(tool) || !isName(tool["name"])) {
    report("lists a tool without a valid name");
    return undefined;
  }
  const { name, inputSchema, outputSchema, annotations } = tool;
  const input = toSafeSchema(inputSchema);
  if ("problem" in input) {
    report(
      `lists the tool ${JSON.stringify(name)}, which is left out: its schema ${input.problem}`,
    );
    return undefined;
  }
  if (input.note !== undefined) {
    report(`lists the tool ${JSON.stringify(name)}, whose schema ${input.note}`);
  }
  const output = outputSchema === undefined ? undefined : toSafeSchema(outputSchema);
  return {
    name,
    ...pickTexts(tool),
    inputSchema: input.schema,
    ...(output && "schema" in output && { outputSchema: output.schema }),
    ...(isJsonObject(annotations) && { annotations: repairHints(annotations) }),
  };
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

function repairHints(annotations: JsonObject): McpToolHints {
  const hints = HINTS.flatMap((name) => {
    const { [name]: hint } = annotations;
    return typeof hint === "boolean" ? [[name, hint]] : [];
  });
  return { ...pickTexts({ title: annotations["title"] }), ...Object.fromEntries(hints) };
}

function repairPrompt(prompt: unknown, report: ReportProblem): ServerPrompt | undefined {
  if (!isJsonObject(prompt) || !isName(prompt["name"])) {
    report("lists a prompt without a valid name");
    return undefined;
  }
  const { name, arguments: parameters } = prompt;
  return {
    name,
    ...pickTexts(prompt),
    ...(Array.isArray(parameters) && { arguments: parameters.flatMap(repairArgument) }),
  };
}

function repairArgument(argument: unknown): ServerPromptArgument[] {
  if (!isJsonObject(argument) || !isName(argument["name"])) return [];
  const { name, required } = argument;
  const { description } = pickTexts(argument);
  return [{
    name,
    ...(description !== undefined && { description }),
    ...(typeof required === "boolean" && { required }),
  }];
}

function repairPromptMessage(message: unknown): ServerPromptMessage | undefined {
  if (!isJsonObject(message)) return undefined;
  const { role, content } = message;
  return { role: role === "assistant" ? "assistant" : "user", content: repairContent(content) };
}

function repairResource(resource: unknown, report: ReportProblem): ServerResource | undefined {
  if (!isJsonObject(resource) || !isUri(resource["uri"])) {
    report("lists a resource without a valid URI");
    return undefined;
  }
  const { uri, name, mimeType, size } = resource;
  return {
    uri,
    name: isName(name) ? name : uri,
    ...pickTexts(resource),
    ...(isName(mimeType) && { mimeType }),
    ...(typeof size === "number" && { size }),
  };
}

function repairResourceTemplate(
  template: unknown,
  report: ReportProblem,
): ServerResourceTemplate | undefined {
  if (!isJsonObject(template) || !isUri(template["uriTemplate"])) {
    report("lists a resource template without a valid URI template");
    return undefined;
  }
  const { uriTemplate, name, mimeType } = template;
  return {
    uriTemplate,
    name: isName(name) ? name : uriTemplate,
    ...pickTexts(template),
    ...(isName(mimeType) && { mimeType }),
  };
}

function repairResourceContents(contents: unknown): ServerResourceContents | undefined {
  if (!isJsonObject(contents) || !isUri(contents["uri"])) return undefined;
  const { uri, mimeType, text, blob } = contents;
  const body = typeof text === "string"
    ? { text }
    : typeof blob === "string"
    ? { blob }
    : undefined;
  return body && { uri, ...(isName(mimeType) && { mimeType }), ...body };
}

/** A block of an unknown kind, or with invalid properties, becomes a text. */
function repairContent(block: unknown): ServerContent {
  if (typeof block === "string") return { type: "text", text: block };
  const repaired = isJsonObject(block) ? repairBlock(block) : undefined;
  if (repaired) return repaired;
  const type = isJsonObject(block) && isName(block["type"])
    ? JSON.stringify(block["type"])
    : "none";
  return { type: "text", text: `[A block of content that cannot be shown; its type: ${type}]` };
}

function repairBlock(block: JsonObject): ServerContent | undefined {
  const { type, text, data, mimeType, resource } = block;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : undefined;
    case "image":
    case "audio":
      return isBase64(data) && isName(mimeType) ? { type, data, mimeType } : undefined;
    case "resource_link": {
      const link = repairResource(block, () => {});
      return link && { type, ...link };
    }
    case "resource": {
      const contents = repairResourceContents(resource);
      return contents && { type, resource: contents };
    }
    default:
      return undefined;
  }
}

function pickTexts(source: JsonObject): { readonly title?: string; readonly description?: string } {
  const { title, description } = source;
  return {
    ...(typeof title === "string" && title !== "" && { title: cutText(title) }),
    ...(typeof description === "string" && { description: cutText(description) }),
  };
}

function cutText(text: string): string {
  return text.length > MAX_DESCRIPTION_LENGTH ? `${text.slice(0, MAX_DESCRIPTION_LENGTH)}…` : text;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH;
}

function isUri(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_URI_LENGTH;
}

/** The client refuses a complete result for one block whose data is not base64. */
function isBase64(value: unknown): value is string {
  return typeof value === "string" && value.length % 4 === 0 &&
    /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}
