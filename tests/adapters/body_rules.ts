/**
 * Rules for request bodies that the types of the official SDKs do not state, from documentation and error messages.
 *
 * `captureRequest()` checks them for every request of the tests.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { asList, asObject, asTexts, findAll, hasNoKeyword } from "./body_values.ts";
import { type BodyRule, NOVA_ROOT, PROPERTY_KEYS, SCHEMA_RULES } from "./schema_rules.ts";

type Api =
  | "anthropic"
  | "bedrock"
  | "gemini"
  | "vertex"
  | "chat"
  | "mistral"
  | "responses"
  | "ollama";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const ROOT_KEYWORDS = ["oneOf", "anyOf", "allOf", "not", "enum", "$ref"];

/** Keywords that strict schemas must not have, at OpenAI and at Anthropic. */
const OPENAI_REFUSES = ["oneOf", "allOf", "not", "default", "minLength", "maxLength", "if"];
const CLAUDE_REFUSES = [
  "oneOf",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "maxItems",
  "pattern",
];

/** Rules of all APIs. */
const COMMON_RULES: readonly BodyRule[] = [
  {
    rule: "base64 has its usual alphabet and complete padding",
    accepts: (body) => collectTexts(body).every(hasValidData) && findData(body).every(isBase64),
  },
  {
    rule: "Unicode is well-formed",
    accepts: (body) => collectTexts(body).every((text) => text.isWellFormed()),
  },
  {
    rule: "a conversation is not empty",
    accepts: ({ messages, input, contents }) =>
      asList(messages ?? input ?? contents).some(({ role }) => role !== "system"),
  },
];

const CITED_DOCUMENTS: BodyRule = {
  rule: "citations must be enabled on all or none of the documents",
  accepts: (body) => {
    const inConverse = findAll(body, ({ document }) => isJsonObject(document))
      .map(({ document }) => asObject(document));
    const documents = findAll(body, ({ type, source }) => type === "document" && !!source);
    const isCited = [...inConverse, ...documents].map(({ citations }) => citations !== undefined);
    return new Set(isCited).size <= 1;
  },
};

const RULES: Readonly<Record<Api, readonly BodyRule[]>> = {
  anthropic: [
    ...SCHEMA_RULES,
    PROPERTY_KEYS,
    CITED_DOCUMENTS,
    {
      rule: "the title of a document has 1 to 500 characters",
      accepts: (body) =>
        findAll(body, ({ type }) => type === "document").every(({ title = "x" }) =>
          String(title).length >= 1 && String(title).length <= 500
        ),
    },
    {
      rule: "URL sources are supported for PDF documents only",
      accepts: (body) =>
        findAll(body, ({ type }) => type === "document").every(({ source }) =>
          asObject(source)["type"] !== "url" || /\.pdf$/.test(String(asObject(source)["url"]))
        ),
    },
    {
      rule: "all content must be type `text` if `is_error` is true",
      accepts: (body) =>
        findAll(body, isErrorResult).every(({ content }) =>
          asList(content).every((block) => block["type"] === "text")
        ),
    },
    {
      rule: "content cannot be empty if `is_error` is true",
      accepts: (body) =>
        findAll(body, isErrorResult).every(({ content }) => asList(content).length > 0),
    },
    {
      rule: "tool_result blocks come first in a message",
      accepts: (body) =>
        asList(body["messages"]).every(({ content }) => {
          const isResult = asList(content).map(({ type }) => type === "tool_result");
          return !isResult.includes(true) || isResult.lastIndexOf(true) < count(isResult);
        }),
    },
    {
      rule: "image sources are web URLs, files or base64 of four media types",
      accepts: (body) => findAll(body, isImage).every(({ source }) => isAcceptedImage(source)),
    },
    {
      rule: "input_schema does not support oneOf, allOf, or anyOf at the top level",
      accepts: (body) =>
        asList(body["tools"]).every(({ input_schema }) => isPlainRoot(input_schema)),
    },
    {
      rule: "temperature and top_p cannot both be specified for this model",
      accepts: ({ temperature, top_p }) => temperature === undefined || top_p === undefined,
    },
    {
      rule: "top_p must be greater than or equal to 0.95 when thinking is enabled",
      accepts: ({ thinking, top_p }) =>
        asObject(thinking)["type"] !== "enabled" || top_p === undefined || Number(top_p) >= 0.95,
    },
    {
      rule: "stop sequences must contain non-whitespace",
      accepts: ({ stop_sequences }) => asTexts(stop_sequences).every(hasText),
    },
    {
      rule: "tool names must be unique",
      accepts: (body) => areUnique(asList(body["tools"]).map(({ name }) => name)),
    },
    {
      rule: "a server tool was found without its result, or a result without its call",
      accepts: (body) => {
        const called = findAll(body, ({ type }) => type === "server_tool_use").map(({ id }) => id);
        const answered = findAll(body, ({ type }) => /._tool_result$/.test(String(type)))
          .map(({ tool_use_id }) => tool_use_id);
        return answered.every((id) => called.includes(id)) &&
          (body["container"] !== undefined || called.every((id) => answered.includes(id)));
      },
    },
    {
      rule: "an output schema has only the keywords that Anthropic enforces",
      accepts: (body) => hasNoKeyword(asObject(body["output_config"])["format"], CLAUDE_REFUSES),
    },
  ],
  bedrock: [
    ...SCHEMA_RULES,
    NOVA_ROOT,
    PROPERTY_KEYS,
    CITED_DOCUMENTS,
    {
      rule: "Conversation blocks and tool result blocks cannot be provided in the same turn.",
      accepts: (body, url) =>
        /claude|nova|openai\.gpt-\d/.test(url) ||
        asList(body["messages"]).every(hasOneKindOfBlocks),
    },
    {
      rule: "`tool_use` ids were found without `tool_result` blocks immediately after",
      accepts: (body, url) =>
        !url.includes("claude") ||
        asList(body["messages"]).every(({ content }) =>
          ["toolResult", "document"].some((name) =>
            asList(content).every((block) => !(name in block))
          )
        ),
    },
    {
      rule: "This model doesn't support the toolConfig.toolChoice.any field.",
      accepts: ({ toolConfig }, url) =>
        /claude|nova|mistral-large|openai\.gpt-\d/.test(url) ||
        asObject(toolConfig)["toolChoice"] === undefined,
    },
    {
      rule:
        "This model doesn't support the temperature, topP or stopSequences field, a document or a cachePoint.",
      accepts: (body, url) =>
        !/openai\.gpt-\d/.test(url) ||
        findAll(body, (value) =>
            ["temperature", "topP", "stopSequences", "document", "cachePoint"].some((field) =>
              value[field] !== undefined
            )).length === 0,
    },
    {
      rule: "Unknown parameter: 'reasoning_effort'.",
      accepts: ({ additionalModelRequestFields }, url) =>
        !/openai\.gpt-\d/.test(url) ||
        Object.keys(asObject(additionalModelRequestFields)).every((name) => name === "reasoning"),
    },
    {
      rule: "the content of a failed tool result is text",
      accepts: (body) =>
        findAll(body, ({ status }) => status === "error").every(({ content }) =>
          asList(content).every((block) => "text" in block)
        ),
    },
    {
      rule: "a call of a system tool has a result",
      accepts: (body) => {
        const answered = findAll(body, ({ toolResult }) => isJsonObject(toolResult))
          .map(({ toolResult }) => asObject(toolResult)["toolUseId"]);
        return findAll(body, ({ type }) => type === "server_tool_use").every(({ toolUseId }) =>
          answered.includes(toolUseId)
        );
      },
    },
    {
      rule: "document names have few characters, no repeated white space, and are unique",
      accepts: (body) => {
        const names = findAll(body, ({ document }) => isJsonObject(document)).map(({ document }) =>
          String(asObject(document)["name"])
        );
        const isValid = (name: string) => /^[A-Za-z0-9\s()[\]-]+$/.test(name) && !/\s\s/.test(name);
        return names.every(isValid) && areUnique(names);
      },
    },
    {
      rule: "a text block is required in a message with a document",
      accepts: (body) =>
        asList(body["messages"]).every(({ content }) => {
          const blocks = asList(content);
          return !blocks.some((block) => "document" in block) ||
            blocks.some((block) => "text" in block);
        }),
    },
    {
      rule: "an input schema has no oneOf, allOf or anyOf at the top level",
      accepts: (body) =>
        findAll(body, ({ json }) => isJsonObject(json)).every(({ json }) => isPlainRoot(json)),
    },
    {
      rule: "an inference configuration is not empty",
      accepts: ({ inferenceConfig }) =>
        inferenceConfig === undefined || Object.keys(asObject(inferenceConfig)).length > 0,
    },
  ],
  gemini: [
    {
      rule:
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      accepts: ({ contents }) => {
        const roles = asList(contents).map(({ role }) => role);
        return roles[0] === "user" &&
          roles.every((role, index) => role === "user" || roles[index - 1] === "user");
      },
    },
    {
      rule: "Unsupported MIME type: image/gif",
      accepts: (body) =>
        findAll(body, ({ mimeType }) => mimeType !== undefined).every(({ mimeType }) =>
          /^(?:image\/(?:png|jpeg|webp|heic|heif)|application\/(?:pdf|rtf)|text\/|audio\/)/.test(
            String(mimeType),
          )
        ),
    },
    {
      rule:
        "schema specified other fields alongside any_of. When using any_of, it must be the only field set.",
      accepts: ({ tools, generationConfig }) =>
        findAll([tools, generationConfig], ({ anyOf }) => Array.isArray(anyOf)).every((schema) =>
          Object.keys(schema).length === 1
        ),
    },
    {
      rule: "at most five stop sequences",
      accepts: ({ generationConfig }) =>
        asTexts(asObject(generationConfig)["stopSequences"]).length <= 5,
    },
    {
      rule: "a function response has an object",
      accepts: (body) =>
        findAll(body, (part) => "functionResponse" in part).every(({ functionResponse }) =>
          isJsonObject(asObject(functionResponse)["response"])
        ),
    },
  ],
  vertex: [
    {
      rule: 'Unknown name "id"',
      accepts: (body) =>
        findAll(body, (part) => "functionCall" in part || "functionResponse" in part)
          .every(({ functionCall, functionResponse }) =>
            !("id" in asObject(functionCall ?? functionResponse))
          ),
    },
    {
      rule: "serviceTier and includeServerSideToolInvocations are fields of the Gemini API",
      accepts: (body) => body["serviceTier"] === undefined && hasNoKeyword(body, INVOCATIONS),
    },
  ],
  chat: [
    ...SCHEMA_RULES,
    {
      rule:
        "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
      accepts: (body, url) =>
        !/openai\.(?:com|azure)/.test(url) ||
        asList(body["tools"]).every((tool) =>
          String(asObject(tool["function"])["description"] ?? "").length <= 1024
        ),
    },
    {
      rule: "Conversation roles must alternate user/assistant/user/assistant/...",
      accepts: ({ messages }, url) => {
        const roles = asList(messages).map(({ role }) => role);
        return !url.includes("localhost") ||
          roles.every((role, index) => role === "tool" || role !== roles[index - 1]);
      },
    },
    {
      rule: "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
      accepts: ({ prompt_cache_key: key = "" }) => String(key).length <= 64,
    },
    { rule: "at most four stop texts", accepts: ({ stop }) => asTexts(stop).length <= 4 },
    {
      rule: "parameters are an object without oneOf, anyOf, allOf, enum or not at the top level",
      accepts: (body) =>
        findAll(body, ({ parameters }) => isJsonObject(parameters)).every(({ parameters }) =>
          isPlainRoot(parameters)
        ),
    },
    {
      rule: "a strict schema has only the keywords that OpenAI enforces",
      accepts: ({ response_format }) =>
        isValidStrictSchema(asObject(response_format)["json_schema"]),
    },
    {
      rule: "images are web URLs or base64 of four media types",
      accepts: (body) =>
        findAll(body, ({ image_url }) => isJsonObject(image_url)).every(({ image_url }) =>
          isImageUrl(asObject(image_url)["url"])
        ),
    },
    {
      rule: "audio is base64 without a media type",
      accepts: (body) =>
        findAll(body, ({ input_audio }) => isJsonObject(input_audio)).every(({ input_audio }) =>
          /^[A-Za-z0-9+/]+=*$/.test(String(asObject(input_audio)["data"]))
        ),
    },
  ],
  mistral: [
    ...SCHEMA_RULES,
    {
      rule: "Extra inputs are not permitted",
      accepts: (body) =>
        ["stream_options", "seed", "max_completion_tokens", "verbosity"].every((field) =>
          !(field in body)
        ),
    },
  ],
  responses: [
    ...SCHEMA_RULES,
    {
      rule: "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
      accepts: ({ prompt_cache_key: key = "" }) => String(key).length <= 64,
    },
    {
      rule: "Unknown parameter: 'stop', 'seed'",
      accepts: (body) => !("stop" in body) && !("seed" in body),
    },
    {
      rule: "parameters are an object without oneOf, anyOf, allOf, enum or not at the top level",
      accepts: (body) => asList(body["tools"]).every(({ parameters }) => isPlainRoot(parameters)),
    },
    {
      rule: "a strict schema has only the keywords that OpenAI enforces",
      accepts: ({ text }) => isValidStrictSchema(asObject(text)["format"]),
    },
    {
      rule: "images are web URLs, files or base64 of four media types",
      accepts: (body) =>
        findAll(body, ({ type }) => type === "input_image").every(({ image_url, file_id }) =>
          file_id !== undefined || isImageUrl(image_url)
        ),
    },
    {
      rule: "a file in base64 has a name with an extension",
      accepts: (body) =>
        findAll(body, ({ file_data }) => file_data !== undefined).every(({ filename }) =>
          /\.\w+$/.test(String(filename))
        ),
    },
  ],
  ollama: [
    ...SCHEMA_RULES,
    {
      rule: "images are base64 without a media type",
      accepts: (body) =>
        findAll(body, ({ images }) => images !== undefined).every(({ images }) =>
          asTexts(images).every((image) => /^[A-Za-z0-9+/]+=*$/.test(image))
        ),
    },
  ],
};

const INVOCATIONS = ["includeServerSideToolInvocations"];

/** Returns the rules that a request breaks. */
export function findBrokenRules(url: string, body: JsonObject): string[] {
  const apis = getApis(url);
  const rules = apis.length > 0 ? [...COMMON_RULES, ...apis.flatMap((api) => RULES[api])] : [];
  return rules.filter(({ accepts }) => !accepts(body, url)).map(({ rule }) => rule);
}

function getApis(url: string): readonly Api[] {
  if (url.endsWith("/v1/messages")) return ["anthropic"];
  if (url.includes("/converse-stream")) return ["bedrock"];
  if (url.includes("aiplatform.")) return ["gemini", "vertex"];
  if (url.includes(":streamGenerateContent")) return ["gemini"];
  if (url.includes("/chat/completions")) {
    return url.includes("mistral") ? ["mistral"] : ["chat"];
  }
  if (url.includes("/responses")) return ["responses"];
  return url.endsWith("/api/chat") ? ["ollama"] : [];
}

function collectTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return isJsonObject(value) ? Object.entries(value).flat().flatMap(collectTexts) : [];
}

/** Whether a text is no `data:` URL in base64, or one with valid data. */
function hasValidData(text: string): boolean {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(text)?.[1];
  return data === undefined || isBase64(data);
}

/** Returns the base64 data of media in the forms of all APIs. */
function findData(body: JsonObject): unknown[] {
  const sources = findAll(body, ({ type }) => type === "base64").map(({ data }) => data);
  const inline = findAll(body, ({ inlineData }) => isJsonObject(inlineData))
    .map(({ inlineData }) => asObject(inlineData)["data"]);
  const audio = findAll(body, ({ input_audio }) => input_audio !== undefined)
    .map(({ input_audio }) => asObject(input_audio)["data"] ?? input_audio);
  const bytes = findAll(body, ({ bytes }) => bytes !== undefined).map(({ bytes }) => bytes);
  const images = findAll(body, ({ images }) => Array.isArray(images))
    .flatMap(({ images }) => asTexts(images));
  return [...sources, ...inline, ...audio, ...bytes, ...images]
    .filter((data) => !/^https?:/.test(String(data)));
}

function isBase64(data: unknown): boolean {
  return typeof data === "string" && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function hasOneKindOfBlocks({ content }: JsonObject): boolean {
  const blocks = asList(content).filter((block) => !("cachePoint" in block));
  const tools = blocks.filter((block) => "toolUse" in block || "toolResult" in block);
  return tools.length === 0 || tools.length === blocks.length;
}

function isErrorResult(block: JsonObject): boolean {
  return block["is_error"] === true;
}

function isImage({ type, source }: JsonObject): boolean {
  return type === "image" && isJsonObject(source);
}

function isAcceptedImage(source: unknown): boolean {
  const { type, url, media_type } = asObject(source);
  if (type === "url") return /^https?:/.test(String(url));
  return type === "file" || IMAGE_TYPES.includes(String(media_type));
}

function isImageUrl(url: unknown): boolean {
  const mediaType = /^data:([^;]*);base64,/.exec(String(url))?.[1];
  return mediaType === undefined ? /^https?:/.test(String(url)) : IMAGE_TYPES.includes(mediaType);
}

function isPlainRoot(schema: unknown): boolean {
  return schema === undefined || ROOT_KEYWORDS.every((keyword) => !(keyword in asObject(schema)));
}

function isValidStrictSchema(format: unknown): boolean {
  const { strict, schema } = asObject(format);
  return !strict || (asObject(schema)["type"] === "object" && hasNoKeyword(schema, OPENAI_REFUSES));
}

function hasText(text: string): boolean {
  return text.trim() !== "";
}

function areUnique(values: readonly unknown[]): boolean {
  const defined = values.filter((value) => value !== undefined);
  return new Set(defined).size === defined.length;
}

function count(flags: readonly boolean[]): number {
  return flags.filter((flag) => flag).length;
}
