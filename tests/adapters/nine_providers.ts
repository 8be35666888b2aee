/**
 * The nine adapters of the library, each with a model, for tests of all providers.
 *
 * @module
 */

import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAzure } from "../../adapters/azure/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { createProxy } from "../../adapters/proxy/mod.ts";
import { createXai } from "../../adapters/xai/mod.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import {
  findAnthropicProblems,
  findBedrockProblems,
  findChatProblems,
  findGoogleProblems,
  findMistralProblems,
  findOllamaProblems,
  findProxyProblems,
  findResponsesProblems,
  type RequestCheck,
} from "./request_rules.ts";

/** Options for the stream function of a provider. */
export interface EndpointOptions {
  /** URL of a server that imitates all providers. Default: the URL of the provider. */
  readonly url?: string;
  /** Sends the requests. Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** One API of one provider. */
export interface ProviderSubject {
  /** Name in test titles. */
  readonly name: string;
  /** Model to call. */
  readonly model: ModelSpec;
  /** Creates the stream function. */
  readonly createStreamFn: (endpoint: EndpointOptions) => StreamFn;
  /** Finds problems in a request body that the provider would reject. */
  readonly findProblems: RequestCheck;
}

type Options = { baseUrl?: string; fetch?: typeof globalThis.fetch };

function createSubject(
  name: string,
  model: string,
  createStreamFn: (options: Options) => StreamFn,
  { path = "", problems }: { path?: string; problems: RequestCheck },
): ProviderSubject {
  return {
    name,
    model: modelSpec(model),
    createStreamFn: ({ url, fetch }) =>
      createStreamFn({
        ...(url !== undefined && { baseUrl: url + path }),
        ...(fetch && { fetch }),
      }),
    findProblems: problems,
  };
}

const apiKey = "sk-test";

/** All nine providers, with an entry for each API. */
export const NINE_PROVIDERS: readonly ProviderSubject[] = [
  createSubject(
    "anthropic",
    "anthropic/claude-sonnet-4-5:low",
    (options) => createAnthropic({ apiKey, ...options }),
    { problems: findAnthropicProblems },
  ),
  createSubject(
    "openai",
    "openai/gpt-4o",
    (options) => createOpenAI({ apiKey, api: "chat", ...options }),
    {
      path: "/v1",
      problems: findChatProblems,
    },
  ),
  createSubject(
    "openai responses",
    "openai/gpt-5-mini:low",
    (options) => createOpenAI({ apiKey, api: "responses", ...options }),
    { path: "/v1", problems: findResponsesProblems },
  ),
  createSubject("ollama", "ollama/llama3.2", (options) => createOllama(options), {
    problems: findOllamaProblems,
  }),
  createSubject(
    "google",
    "google/gemini-2.5-flash:low",
    (options) => createGoogle({ apiKey, ...options }),
    { path: "/v1beta", problems: findGoogleProblems },
  ),
  createSubject(
    "azure",
    "azure/gpt-4o",
    (options) =>
      createAzure({
        apiKey,
        apiVersion: "2024-10-21",
        baseUrl: "https://resource.openai.azure.com",
        ...options,
      }),
    { problems: findChatProblems },
  ),
  createSubject("xai", "xai/grok-3", (options) => createXai({ apiKey, api: "chat", ...options }), {
    path: "/v1",
    problems: findChatProblems,
  }),
  createSubject(
    "mistral",
    "mistral/mistral-large-latest",
    (options) => createMistral({ apiKey, ...options }),
    { path: "/v1", problems: findMistralProblems },
  ),
  createSubject(
    "bedrock",
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    (options) => createBedrock({ bearerToken: apiKey, region: "us-east-1", ...options }),
    { problems: findBedrockProblems },
  ),
  createSubject(
    "proxy",
    "anthropic/claude-sonnet-5-5",
    (options) => createProxy({ apiKey, baseUrl: "https://proxy.example", ...options }),
    { problems: findProxyProblems },
  ),
];
